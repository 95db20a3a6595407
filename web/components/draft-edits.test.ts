import { describe, expect, it } from 'vitest';
import {
  changeOf,
  conflictsOf,
  type Edits,
  edit,
  editedNames,
  keepMine,
  leftAfter,
  merged,
  without,
} from './draft-edits.ts';

type Fields = { name: string; pages: readonly string[]; on: boolean };

const BASE: Fields = { name: 'old', pages: ['/a/'], on: false };
const NONE: Edits<Fields> = {};
const mine = edit(NONE, BASE, 'name', 'mine');

describe('a draft', () => {
  it('follows the server in all fields that the user has not edited', () => {
    const theirs = { ...BASE, pages: ['/b/'], on: true };
    expect(merged(NONE, theirs)).toEqual(theirs);
    expect(merged(mine, theirs)).toEqual({ name: 'mine', pages: ['/b/'], on: true });
    expect(conflictsOf(mine, theirs)).toEqual([]);
    expect(changeOf(mine)).toEqual({ name: 'mine' });
  });

  it('counts a field with the value of the server as not edited', () => {
    expect(editedNames(mine, BASE)).toEqual(['name']);
    expect(editedNames(edit(mine, BASE, 'name', 'old'), BASE)).toEqual([]);
    expect(editedNames(edit(NONE, BASE, 'pages', ['/a/']), BASE)).toEqual([]);
    // Someone else made the same change.
    expect(editedNames(mine, { ...BASE, name: 'mine' })).toEqual([]);
    expect(conflictsOf(mine, { ...BASE, name: 'mine' })).toEqual([]);
  });

  it('has a conflict if both changed a field, until the user decides', () => {
    const theirs = { ...BASE, name: 'theirs' };
    expect(conflictsOf(mine, theirs)).toEqual(['name']);
    expect(merged(mine, theirs).name).toBe('mine');
    // More typing is no decision.
    expect(conflictsOf(edit(mine, theirs, 'name', 'mine, too'), theirs)).toEqual(['name']);

    const kept = keepMine(mine, theirs, 'name');
    expect(conflictsOf(kept, theirs)).toEqual([]);
    expect(changeOf(kept)).toEqual({ name: 'mine' });
    expect(conflictsOf(kept, { ...BASE, name: 'again' })).toEqual(['name']);

    const taken = without(mine, 'name');
    expect(merged(taken, theirs)).toEqual(theirs);
    expect(changeOf(taken)).toEqual({});
  });

  it('has no conflict any more if the other change is taken back', () => {
    expect(conflictsOf(mine, BASE)).toEqual([]);
  });

  it('keeps what the user edits while a save is pending', () => {
    const sent = edit(mine, BASE, 'on', true);
    const now = edit(edit(sent, BASE, 'name', 'newer'), BASE, 'pages', []);
    const left = leftAfter(now, sent);
    const saved = { ...BASE, name: 'mine', on: true };
    expect(merged(left, saved)).toEqual({ name: 'newer', pages: [], on: true });
    expect(changeOf(left)).toEqual({ name: 'newer', pages: [] });
    expect(conflictsOf(left, saved)).toEqual([]);
  });
});
