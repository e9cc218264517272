/*
 * Threads that work on memory of their own, each as much as one thread alone.
 *
 *     threads [COUNT]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64
#define WORDS	    (96 * 1024 / sizeof(uint64_t))
#define ROUNDS	    8000

static void *work(void *memory)
{
	uint64_t *words = memory;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 1; i < WORDS; i++)
			words[i] += words[i - 1] ^ (uint64_t)round;
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[THREADS_MAX];
	uint64_t sum = 0;
	uint64_t *words[THREADS_MAX];

	if (count < 1 || count > THREADS_MAX)
		return 2;
	for (int i = 0; i < count; i++) {
		words[i] = calloc(WORDS, sizeof(uint64_t));
		if (!words[i] || pthread_create(&threads[i], NULL, work, words[i]))
			return 1;
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += words[i][WORDS - 1];
		free(words[i]);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
