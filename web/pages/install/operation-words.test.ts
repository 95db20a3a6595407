import { describe, expect, it } from 'vitest';
import { nameOf, sinceOf, stateOf, stepOf, whatToDo } from './operation-words.ts';

const operation = {
  id: 'o',
  kind: 'create_backup',
  cache: null,
  backup: null,
  copy: null,
  state: 'queued',
  attempt: 0,
  reason: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:01:00.000Z',
  finished_at: '2026-01-01T00:02:00.000Z',
} as const;

describe('an operation in words', () => {
  it('is named by what is done, a purge by its cache', () => {
    expect(nameOf(operation)).toBe('Making a backup');
    expect(nameOf({ ...operation, kind: 'purge_cache', cache: 'page' })).toBe('Purging the page cache');
    expect(nameOf({ ...operation, kind: 'purge_cache' })).toBe('Purging a cache');
    const backup = { description: 'before the update', created_at: operation.created_at };
    expect(nameOf({ ...operation, kind: 'restore_backup', backup })).toBe(
      'Restoring a backup: before the update',
    );
    const long = { ...backup, description: 'x'.repeat(1000) };
    expect(nameOf({ ...operation, backup: long })).toMatch(/^Making a backup: x{119}…$/);
  });

  it('is a copy of what is copied, and says how far it is', () => {
    const copying = (step: 'waiting' | 'backing_up' | 'restoring' | null, from: string | null = 'shop') => ({
      ...operation,
      kind: 'copy_install' as const,
      copy: { from, step },
    });
    expect(nameOf(copying(null))).toBe('Copying shop into this install');
    expect(nameOf(copying(null, null))).toBe('Copying another install into this one');
    expect(stepOf(copying('waiting'))).toBeNull();
    expect(stepOf(copying('backing_up'))).toBe('Step 1 of 2: shop is being backed up.');
    expect(stepOf(copying('backing_up', null))).toBe('Step 1 of 2: the other install is being backed up.');
    expect(stepOf(copying('restoring'))).toContain('Step 2 of 2');
    expect(stepOf(copying(null))).toBeNull();
    expect(stepOf(operation)).toBeNull();
  });

  it('waits at first, and after a failure to be tried again', () => {
    expect(stateOf(operation).word).toBe('Waiting');
    expect(stateOf({ ...operation, attempt: 1 }).word).toBe('To be tried again');
  });

  it('says what to do after a failure alone', () => {
    expect(whatToDo(operation)).toBeNull();
    expect(whatToDo({ ...operation, state: 'failed' })).toContain('Make the backup again');
  });

  it('has been in its state since it got there', () => {
    expect(sinceOf(operation)).toBe(operation.created_at);
    expect(sinceOf({ ...operation, state: 'running' })).toBe(operation.started_at);
    expect(sinceOf({ ...operation, state: 'succeeded' })).toBe(operation.finished_at);
  });
});
