import { describe, expect, it } from 'vitest';
import { faultsOfNames, readNames, withTwins } from './new-names.ts';

describe('names to be added', () => {
  it('are read as people paste them, each once', () => {
    expect(readNames(' Example.com,\nhttps://www.example.com/shop?x\n\nexample.com')).toEqual([
      'example.com',
      'www.example.com',
    ]);
    expect(readNames('  \n ')).toEqual([]);
  });

  it('have their twin as a redirect, unless it is named or there already', () => {
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

it('are named in the faults that the server counts, once each', () => {
  const domains = [{ name: 'one.example' }, { name: 'two.example' }];
  expect(
    faultsOfNames(
      [
        { field: 'domains.1.name', message: 'Domain name cannot be empty' },
        { field: 'domains.0.name', message: 'one.example is a domain of this install already' },
        { field: 'domains', message: 'At most 20' },
      ],
      domains,
    ),
  ).toEqual([
    { field: 'names', message: 'two.example: Domain name cannot be empty' },
    { field: 'names', message: 'one.example is a domain of this install already' },
    { field: 'names', message: 'At most 20' },
  ]);
  const pasted = faultsOfNames(
    [{ field: 'domains.0.name', message: 'Not a name' }],
    [{ name: 'x'.repeat(10_000) }],
  );
  expect(pasted[0]?.message).toMatch(/^x{79}…: Not a name$/);
});
