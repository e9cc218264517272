/* The four kernels of STREAM over arrays that no cache holds. */
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 2000000
#define ROUNDS 26

static double a[LENGTH], b[LENGTH], c[LENGTH];

int main(void)
{
	for (int i = 0; i < LENGTH; i++) {
		a[i] = 1.0;
		b[i] = 2.0;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < LENGTH; i++)
			c[i] = a[i];
		for (int i = 0; i < LENGTH; i++)
			b[i] = 3.0 * c[i];
		for (int i = 0; i < LENGTH; i++)
			c[i] = a[i] + b[i];
		for (int i = 0; i < LENGTH; i++)
			a[i] = b[i] + 3.0 * c[i];
	}
	printf("%g\n", a[LENGTH / 2]);
	return 0;
}
