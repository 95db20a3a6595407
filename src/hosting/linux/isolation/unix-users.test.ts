import { describe, expect, it } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { freeId } from './unix-users.ts';

describe('the next user id', () => {
  const range = { first: 100, last: 104 };

  it('follows the highest, so that a returned id is not soon reused', () => {
    expect(freeId(range, new Set(), [])).toBe(100);
    expect(freeId(range, new Set([100, 102]), [])).toBe(103);
    expect(freeId(range, new Set([5, 5000]), [])).toBe(100);
  });

  it('is the lowest free one if the highest is taken', () => {
    expect(freeId(range, new Set([100, 102, 104]), [])).toBe(101);
  });

  it('is never one that containers may use', () => {
    const containers = [
      { first: 90, last: 101 },
      { first: 103, last: 500 },
    ];
    expect(freeId(range, new Set(), containers)).toBe(102);
    expect(() => freeId(range, new Set([102]), containers)).toThrow(PermanentHostError);
  });

  it('is refused with advice if all are taken', () => {
    const all = new Set([100, 101, 102, 103, 104]);
    expect(() => freeId(range, all, [])).toThrow(PermanentHostError);
    expect(() => freeId(range, all, [])).toThrow('HOMEPORT_HOST_UIDS');
  });
});
