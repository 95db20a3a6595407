import { join } from 'node:path';

/** The machine code of PHP that all tests use. The first one that prepares a WordPress makes it. */
export const TESTS_CODE = join(
  import.meta.dirname,
  '../../../../node_modules/.cache/homeport-tests/php-code',
);
