import { expect, it } from 'vitest';
import { configuredPrefix } from './core-tables.ts';
import { renderWpConfig } from './site-config.ts';

it('finds the table prefix of a configuration', () => {
  expect(configuredPrefix(renderWpConfig(() => 'secret', 'a1_'))).toBe('a1_');
  expect(configuredPrefix('<?php\n// $table_prefix = "old_";\n\t$table_prefix  =  "new_" ;\n')).toBe('new_');
  expect(configuredPrefix("<?php\n$table_prefix = 'one_';\n$table_prefix = 'two_';\n")).toBe('two_');
  expect(configuredPrefix("<?php $table_prefix = getenv('PREFIX');")).toBeNull();
});
