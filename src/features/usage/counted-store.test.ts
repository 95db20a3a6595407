import { describe, expect, it } from 'vitest';
import { pageOfBoth } from './counted-store.ts';

const named = (names: string) => [...names].map((name) => ({ id: name, name }));
const namesOf = (items: readonly { name: string }[]) => items.map(({ name }) => name).join('');

describe('a page of two lists', () => {
  /** As the store reads it: of the many, only those that the page can have. */
  const page = (many: string, few: string, { limit, offset }: { limit: number; offset: number }) => {
    const skipped = Math.max(0, offset - few.length);
    const part = named(many).slice(skipped, skipped + offset - skipped + limit);
    return namesOf(pageOfBoth(part, named(few), { limit, offset, skipped }));
  };

  it.each(['', 'a', 'z', 'm', 'abcxyz', 'cgkos', 'aeimquy', 'abcdefghijklmnopqrstuvwxyz'])(
    'with %o among the others is a part of their merged order',
    (few) => {
      const many = [...'abcdefghijklmnopqrstuvwxyz'].filter((name) => !few.includes(name)).join('');
      const whole = [...many, ...few].sort().join('');
      for (const limit of [1, 3, 30]) {
        for (let offset = 0; offset <= whole.length + 1; offset++) {
          expect([offset, page(many, few, { limit, offset })]).toEqual([
            offset,
            whole.slice(offset, offset + limit),
          ]);
        }
      }
    },
  );

  it('orders equal names by id', () => {
    const [first, second] = [
      { id: '1', name: 'shop' },
      { id: '2', name: 'shop' },
    ];
    expect(pageOfBoth([second], [first], { limit: 2, offset: 0, skipped: 0 })).toEqual([first, second]);
  });
});
