import { expect, it } from 'vitest';
import { byEnvironment, environmentOf, freeEnvironments } from './environments.ts';

it('puts production first, and what fills no slot last', () => {
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

it('tells which slots are free; an install without environment takes none', () => {
  expect(freeEnvironments([{ environment: 'staging' }, { environment: null }])).toEqual([
    'production',
    'development',
  ]);
});

it('takes whatever is no environment for none', () => {
  expect(environmentOf('staging')).toBe('staging');
  expect(environmentOf('')).toBeNull();
});
