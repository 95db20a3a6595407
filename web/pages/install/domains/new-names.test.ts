import { describe, expect, it } from 'vitest';
import { readNames, withTwins } from './new-names.ts';

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
