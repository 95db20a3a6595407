import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OPERATION_KINDS } from './operation.ts';
import { describeFields, describeResults, RESULT_FIELDS, requireResultOf } from './operation-result.ts';

describe('the result of an operation', () => {
  it('has the fields of its kind', () => {
    requireResultOf('install.apply', {});
    requireResultOf('backup.restore', { backup_id: 'a' });
    requireResultOf('backup.restore', { backup_id: 'a', checkpoint_id: 'b' });
    expect(() => requireResultOf('backup.restore', { checkpoint_id: 'b' })).toThrow('lacks backup_id');
    expect(() => requireResultOf('backup.create', {})).toThrow('lacks backup_id');
    expect(() => requireResultOf('install.apply', { backup_id: 'a' })).toThrow('has no field backup_id');
  });

  it('is described with every field', () => {
    expect(describeResults()).toContain('`archive.create`: `archive_id`, `backup_id`; ');
    expect(describeResults()).toContain('`backup.restore`: `backup_id`, `checkpoint_id` with a checkpoint, ');
  });

  it.each(OPERATION_KINDS)('is documented: %s', (kind) => {
    const document = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const row = document.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`));
    expect(row?.split(' | ')[2]).toBe(describeFields(RESULT_FIELDS[kind]) || 'none');
  });
});
