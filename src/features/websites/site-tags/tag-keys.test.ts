import { describe, expect, it } from 'vitest';
import { joinedKeys, keyOf, readTag, readTags } from './tag-keys.ts';

const refusal = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('a tag', () => {
  it.each([
    ['  Monthly   care ', 'Monthly care'],
    ['Cafe\u0301', 'Café'],
    ['👩‍💻 dev', '👩‍💻 dev'],
    ['100 %', '100 %'],
    ['x'.repeat(40), 'x'.repeat(40)],
    ['💡'.repeat(40), '💡'.repeat(40)],
  ])('%j is kept as %j', (text, tag) => expect(readTag(text)).toBe(tag));

  it.each([
    ['', 'required'],
    [' \u00a0', 'required'],
    ['\u200d', 'invalid_format'],
    ['a\nb', 'invalid_format'],
    ['a\u0000b', 'invalid_format'],
    ['pay\u202epal', 'invalid_format'],
    ['a\u200bb', 'invalid_format'],
    ['half \ud800', 'invalid_format'],
    ['one,two', 'invalid_format'],
    ['x'.repeat(41), 'too_long'],
  ])('%j is refused: %s', (text, code) =>
    expect(refusal(() => readTag(text))).toMatchObject({ faults: [{ field: 'tags', code }] }),
  );

  it('is the same in any case, width and composition', () => {
    expect(new Set(['Café', 'CAFE\u0301', 'ｃａｆé'].map(keyOf)).size).toBe(1);
    expect(keyOf('a\u200db')).toBe(keyOf('ab'));
  });
});

describe('the tags of a site', () => {
  it('are sorted, each once, in the spelling of the account', () => {
    const spellings = new Map([['vip', 'VIP']]);
    expect(readTags(['vip', 'Blog', ' BLOG', 'Vip', 'agency'], spellings)).toEqual(['agency', 'Blog', 'VIP']);
  });

  it('are at most 20', () => {
    const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
    expect(readTags([...tags(20), 'TAG 1'], new Map())).toHaveLength(20);
    expect(refusal(() => readTags(tags(21), new Map()))).toMatchObject({ faults: [{ code: 'too_many' }] });
  });

  it('are stored with their keys between line breaks', () => {
    expect(joinedKeys(['Blog', 'VIP'])).toBe('\nblog\nvip\n');
    expect(joinedKeys([])).toBe('');
  });
});
