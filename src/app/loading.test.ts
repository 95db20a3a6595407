import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('makes no format of Intl while modules load, because its tables cost 7 MB (docs/performance.md)', () => {
  const atLoad = globSync('src/**/*.ts')
    .filter((file) => !file.endsWith('test.ts'))
    .filter((file) => /^(?:export )?const \w+ = .*\bIntl\./m.test(readFileSync(file, 'utf8')));
  expect(atLoad).toEqual([]);
});

it('loads what makes traces in one place only, which asks the settings first', () => {
  const importers = (pattern: RegExp) =>
    globSync('src/**/*.ts')
      .filter((file) => !/^src\/tracing\/|test\.ts$/.test(file))
      .filter((file) => pattern.test(readFileSync(file, 'utf8')));
  expect(importers(/^(?:import|export) (?!type )[^;]*'(?:\.\.?\/)+tracing\/[^/]+'/m)).toEqual([]);
  expect(importers(/\bimport\('(?:\.\.?\/)+tracing\//)).toEqual(['src/app/start-tracing.ts']);
});
