/* The --help of `stat` and `annotate`. */
#ifndef CLI_STAT_USAGE_H
#define CLI_STAT_USAGE_H

#include <stdio.h>

void stat_print_usage(FILE *file);
/** What differs; that of stat is to follow. */
void stat_print_usage_of_annotate(FILE *file);

#endif
