/* usage: threads N: N threads, each sums an array of its own of 512 KB and adds to a shared count.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define WORDS (1 << 16)

static atomic_long total;
static pthread_barrier_t all_done;

static void *work(void *argument)
{
	long *words = malloc(WORDS * sizeof(*words)), sum = 0;

	(void)argument;
	for (int i = 0; i < WORDS; i++)
		words[i] = i & 1;
	for (int i = 0; i < WORDS; i++)
		sum += words[i];
	atomic_fetch_add(&total, sum);
	pthread_barrier_wait(&all_done);
	free(words);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 1 ? atoi(argv[1]) : 1;

	pthread_barrier_init(&all_done, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return total != (long)count * WORDS / 2;
}
