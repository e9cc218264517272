/* What the user's locale can show. */
#ifndef CLI_LOCALE_H
#define CLI_LOCALE_H

#include <stdbool.h>

#define LOCALE_SECTION_SIGN "\xC2\xA7" /* in UTF-8; elsewhere: */
#define LOCALE_SECTION	    "section "

/** Takes the character set of the environment's locale. */
void locale_init(void);

/** Whether that is UTF-8. */
bool locale_is_utf8(void);

/**
 * UTF-8 text as the locale can show it: where that is not UTF-8, "section " in place of the section
 * sign and ? in place of other characters beyond ASCII.
 * @return of the heap; NULL where memory ran out
 */
char *locale_text(const char *text);

#endif
