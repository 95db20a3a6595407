import { describe, expect, it } from 'vitest';
import { sharedTurns } from './shared-turns.ts';

function counted(begin: () => Promise<void> = async () => {}) {
  const seen: string[] = [];
  let turns = 0;
  const share = sharedTurns(async (work) => {
    turns += 1;
    await begin();
    await work();
  });
  const slow = (name: string) => async () => {
    seen.push(`${name} in`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.push(`${name} out`);
    return name;
  };
  return { share, slow, seen, turns: () => turns };
}

describe('works that wait at the same time', () => {
  it('share a turn, and are done one after the other', async () => {
    const { share, slow, seen, turns } = counted();
    expect(await Promise.all([share(slow('a')), share(slow('b')), share(slow('c'))])).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
    expect(turns()).toBeLessThanOrEqual(2);
    expect(await share(slow('d'))).toBe('d');
  });

  it('of which one fails leave the others be', async () => {
    const { share, slow } = counted();
    const failing = share(() => Promise.reject(new Error('this one')));
    const other = share(slow('other'));
    await expect(failing).rejects.toThrow('this one');
    expect(await other).toBe('other');
  });

  it('all fail if there is no turn, and the next one gets one', async () => {
    let isHeld = true;
    const { share, slow } = counted(async () => {
      if (isHeld) throw new Error('not to be had');
    });
    const both = await Promise.allSettled([share(slow('a')), share(slow('b'))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isHeld = false;
    expect(await share(slow('c'))).toBe('c');
  });
});
