import { expect, it } from 'vitest';
import { byEnvironment, environmentOf, freeEnvironments } from './environments.ts';

it('sorts production first and installs without an environment last', () => {
  const installs = [
    { environment: null },
    { environment: 'development' as const },
    { environment: 'production' as const },
  ];
  expect(byEnvironment(installs).map(({ environment }) => environment)).toEqual([
    'production',
    'development',
    null,
  ]);
});

it('ignores installs without an environment when it lists free environments', () => {
  expect(freeEnvironments([{ environment: 'staging' }, { environment: null }])).toEqual([
    'production',
    'development',
  ]);
});

it('parses unknown environments as none', () => {
  expect(environmentOf('staging')).toBe('staging');
  expect(environmentOf('')).toBeNull();
});
