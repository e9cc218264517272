# The front door; Meson does the work.
.PHONY: all demo test tsan bench faults fuzz lint format counts ia64-toolchain clean

all:
	@scripts/install-deps build run
	@test -d build || meson setup build -Dnative=true >/dev/null
	@ninja -C build programs

demo: all
	@scripts/install-deps demo
	@scripts/demo

test:
	@scripts/install-deps build run test
	@test -d build-test || meson setup build-test -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Dwerror=true >/dev/null
	@ninja -C build-test
	@meson test -C build-test --no-rebuild --print-errorlogs --num-processes $$((2 * $$(nproc)))

tsan:
	@scripts/install-deps build test
	@test -d build-tsan || meson setup build-tsan -Dbuildtype=debugoptimized \
		-Db_sanitize=thread -Db_lundef=false >/dev/null
	@ninja -C build-tsan
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/machine/tsan.supp \
		meson test -C build-tsan --no-rebuild --print-errorlogs --timeout-multiplier 2 \
			--suite machine --suite pmon

bench: all
	@scripts/install-deps bench
	@ninja -C build
	@bench/run

faults: all
	@scripts/install-deps test
	@ninja -C build
	@tests/faults/all build

fuzz:
	@scripts/install-deps build lint
	@fuzz/run

lint:
	@scripts/install-deps build lint
	@scripts/lint

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

counts: all
	@tests/catalog/counts.py build/pmulab --update

# A C cross compiler for IA-64 Linux, in IA64_DIR.
ia64-toolchain:
	@scripts/ia64-toolchain $(or $(IA64_DIR),ia64-toolchain)

clean:
	@rm -rf build build-test build-tsan
