import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../../components/bytes.ts';
import { copyStep, operationName, operationState, progressLabel, stateSince } from './operation-labels.ts';

const operation = {
  id: 'o',
  kind: 'backup.create',
  cache: null,
  pages: null,
  backup: null,
  copy: null,
  domain: null,
  status: 'queued',
  attempt: 0,
  progress: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:01:00.000Z',
  finished_at: '2026-01-01T00:02:00.000Z',
} as const;

describe('labels of an operation', () => {
  it('name the operation, with its cache or backup', () => {
    expect(operationName(operation)).toBe('Creating a backup');
    expect(operationName({ ...operation, kind: 'cache.purge', cache: 'page' })).toBe(
      'Purging the page cache',
    );
    expect(operationName({ ...operation, kind: 'cache.purge', cache: 'all' })).toBe('Purging all caches');
    expect(operationName({ ...operation, kind: 'cache.purge' })).toBe('Purging a cache');
    const purge = { ...operation, kind: 'cache.purge', cache: 'page' } as const;
    expect(operationName({ ...purge, pages: { count: 1, first: '/a/' } })).toBe('Purging the page /a/');
    expect(operationName({ ...purge, pages: { count: 9, first: '/a/' } })).toBe(
      'Purging 9 pages: /a/ and 8 more',
    );
    const domain = { id: 'd', name: 'shop.example' };
    expect(operationName({ ...operation, kind: 'certificate.order', domain })).toBe(
      'Ordering a certificate for shop.example',
    );
    const backup = { id: 'b', description: 'before the update', created_at: operation.created_at };
    expect(operationName({ ...operation, kind: 'backup.restore', backup })).toBe(
      'Restoring a backup: before the update',
    );
    const long = { ...backup, description: 'x'.repeat(1000) };
    expect(operationName({ ...operation, backup: long })).toMatch(/^Creating a backup: x{119}…$/);
  });

  it('name the source of a copy and its step', () => {
    const copying = (step: 'waiting' | 'backing_up' | 'restoring' | null, from: string | null = 'shop') => ({
      ...operation,
      kind: 'install.copy' as const,
      copy: { from, step },
    });
    expect(operationName(copying(null))).toBe('Copying shop into this install');
    expect(operationName(copying(null, null))).toBe('Copying another install into this one');
    expect(copyStep(copying('waiting'))).toBeNull();
    expect(copyStep(copying('backing_up'))).toBe('Step 1 of 2: backing up shop.');
    expect(copyStep(copying('backing_up', null))).toBe('Step 1 of 2: backing up the other install.');
    expect(copyStep(copying('restoring'))).toContain('Step 2 of 2');
    expect(copyStep(copying(null))).toBeNull();
    expect(copyStep(operation)).toBeNull();
  });

  it('distinguish waiting from a pending retry', () => {
    expect(operationState(operation).word).toBe('Waiting');
    expect(operationState({ ...operation, attempt: 1 }).word).toBe('Retry pending');
  });

  it('say how much is done, of a total if it is known', () => {
    expect(progressLabel(operation)).toBeNull();
    const bytes = { done: 512, total: 2048, unit: 'bytes' as const, step: null };
    expect(progressLabel({ progress: bytes })).toBe(`${formatBytes(512)} of ${formatBytes(2048)}`);
    expect(progressLabel({ progress: { ...bytes, total: null } })).toBe(formatBytes(512));
    expect(progressLabel({ progress: { done: 3, total: 7, unit: 'files', step: null } })).toBe(
      '3 files of 7 files',
    );
  });

  it('give the time of the last change of state', () => {
    expect(stateSince(operation)).toBe(operation.created_at);
    expect(stateSince({ ...operation, status: 'running' })).toBe(operation.started_at);
    expect(stateSince({ ...operation, status: 'succeeded' })).toBe(operation.finished_at);
  });
});
