#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for a list of every valid name of a box; what is longer is cut with an ellipsis. */
#define MESSAGE_MAX 4096

struct pmu_ctx {
	char message[MESSAGE_MAX];
};

int pmu_ctx_new(struct pmu_ctx **ctx)
{
	*ctx = calloc(1, sizeof(**ctx));
	return *ctx ? 0 : PMU_E_NOMEM;
}

void pmu_ctx_free(struct pmu_ctx *ctx)
{
	free(ctx);
}

const char *pmu_message(const struct pmu_ctx *ctx)
{
	return ctx ? ctx->message : "";
}

#define TEXT(number)	      #number
#define VERSION_TEXT(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *pmu_version(void)
{
	return VERSION_TEXT(PMU_VERSION_MAJOR, PMU_VERSION_MINOR, PMU_VERSION_PATCH);
}

const char *pmu_strerror(int error)
{
	switch (error) {
	case 0:
		return "no error";
	case PMU_E_NOMEM:
		return "out of memory";
	case PMU_E_SYNTAX:
		return "syntax error";
	case PMU_E_UNKNOWN:
		return "unknown name";
	case PMU_E_RANGE:
		return "value out of range";
	case PMU_E_CONFLICT:
		return "conflicting requests";
	case PMU_E_IO:
		return "input or output failed";
	case PMU_E_RIGHTS:
		return "permission denied";
	case PMU_E_UNSUPPORTED:
		return "not supported here";
	case PMU_E_STATE:
		return "call in the wrong order";
	case PMU_E_BUSY:
		return "counters in use";
	default:
		return "unknown error";
	}
}

static size_t put_message(struct pmu_ctx *ctx, const char *format, va_list arguments)
{
	int length = vsnprintf(ctx->message, MESSAGE_MAX, format, arguments);

	if (length < 0)
		length = 0;
	if (length >= MESSAGE_MAX) {
		memcpy(ctx->message + MESSAGE_MAX - 4, "...", 4);
		length = MESSAGE_MAX - 1;
	}
	return (size_t)length;
}

int error_set(struct pmu_ctx *ctx, int code, const char *format, ...)
{
	va_list arguments;

	if (!ctx)
		return code;
	va_start(arguments, format);
	put_message(ctx, format, arguments);
	va_end(arguments);
	return code;
}

int error_set_at(struct pmu_ctx *ctx, int code, const char *input, size_t offset, size_t length,
		 const char *format, ...)
{
	va_list arguments;
	size_t used, input_length = strlen(input);

	if (!ctx)
		return code;
	va_start(arguments, format);
	used = put_message(ctx, format, arguments);
	va_end(arguments);

	if (offset > input_length)
		offset = input_length;
	if (length > input_length - offset)
		length = input_length - offset;
	if (length == 0)
		length = 1;
	/* Two more lines, or none: half an excerpt helps nobody. */
	if (used + 2 * (input_length + 4) + 2 < MESSAGE_MAX) {
		char *end = ctx->message + used;

		end += sprintf(end, "\n  %s\n  %*s", input, (int)offset, "");
		memset(end, '^', length);
		end[length] = '\0';
	}
	return code;
}
