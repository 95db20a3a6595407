import { describe, expect, it } from 'vitest';
import { fieldOf, newRow, rowsOf, settingsOf } from './path-rows.ts';

const settings = {
  cloud: 's3' as const,
  bucket: 'files',
  bucket_region: 'eu-central-1',
  path_settings: [
    { path: '/a/', redirect_type: 'permanent' as const, excluded_paths: ['/a/x', '/a/y'] },
    { path: '/b/', redirect_type: 'break' as const, excluded_paths: [] },
  ],
};

describe('the paths of the offload form', () => {
  it('come back as they were', () => {
    expect(settingsOf(rowsOf(settings))).toEqual(settings.path_settings);
  });

  it('leave out empty lines', () => {
    expect(settingsOf([{ key: 1, path: ' /a/ ', redirectType: 'break', excluded: ' /a/x \n\n' }])).toEqual([
      { path: '/a/', redirect_type: 'break', excluded_paths: ['/a/x'] },
    ]);
  });

  it('have keys of their own', () => {
    const rows = rowsOf(settings);
    expect(rows.map(({ key }) => key)).not.toContain(newRow(rows).key);
  });
});

it('finds the field of a fault', () => {
  expect(fieldOf('path_settings.1.excluded_paths.0')).toBe('path_settings.1.excluded_paths');
  expect(fieldOf('bucket')).toBe('bucket');
});
