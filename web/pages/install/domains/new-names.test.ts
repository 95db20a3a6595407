import { describe, expect, it } from 'vitest';
import { nameErrors, readNames, withTwins } from './new-names.ts';

describe('names to add', () => {
  it('are parsed from pasted text without duplicates', () => {
    expect(readNames(' Example.com,\nhttps://www.example.com/shop?x\n\nexample.com')).toEqual([
      'example.com',
      'www.example.com',
    ]);
    expect(readNames('  \n ')).toEqual([]);
  });

  it('get their missing www twin as a redirect', () => {
    expect(
      withTwins(
        ['example.com', '*.example.com', 'www.one.example', 'blog.two.example'],
        ['one.example'],
        true,
      ),
    ).toEqual([
      { name: 'example.com' },
      { name: '*.example.com' },
      { name: 'www.one.example' },
      { name: 'blog.two.example' },
      { name: 'www.example.com', redirect_to: 'example.com' },
    ]);
    expect(withTwins(['example.com', 'www.example.com'], [], true)).toHaveLength(2);
    expect(withTwins(['example.com'], [], false)).toEqual([{ name: 'example.com' }]);
  });
});

it('adds each name once to an error', () => {
  const domains = [{ name: 'one.example' }, { name: 'two.example' }];
  expect(
    nameErrors(
      [
        { field: 'domains.1.name', message: 'Domain name cannot be empty' },
        { field: 'domains.0.name', message: 'one.example is already a domain of this install' },
        { field: 'domains', message: 'At most 20' },
      ],
      domains,
    ),
  ).toEqual([
    { field: 'names', message: 'two.example: Domain name cannot be empty' },
    { field: 'names', message: 'one.example is already a domain of this install' },
    { field: 'names', message: 'At most 20' },
  ]);
  const pasted = nameErrors(
    [{ field: 'domains.0.name', message: 'Not a name' }],
    [{ name: 'x'.repeat(10_000) }],
  );
  expect(pasted[0]?.message).toMatch(/^x{79}…: Not a name$/);
});
