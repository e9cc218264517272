#include "cli/locale.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

void locale_init(void)
{
	setlocale(LC_CTYPE, "");
}

bool locale_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

char *locale_text(const char *text)
{
	char *shown, *out;

	if (locale_is_utf8())
		return strdup(text);
	out = shown = malloc(strlen(LOCALE_SECTION) * strlen(text) + 1);
	if (!shown)
		return NULL;
	while (*text) {
		if (!strncmp(text, LOCALE_SECTION_SIGN, strlen(LOCALE_SECTION_SIGN))) {
			out = mempcpy(out, LOCALE_SECTION, strlen(LOCALE_SECTION));
			text += strlen(LOCALE_SECTION_SIGN);
		} else if (*text & 0x80) {
			*out++ = '?';
			/* The rest of the character. */
			for (text++; (*text & 0xC0) == 0x80; text++)
				;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
	return shown;
}
