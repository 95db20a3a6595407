import { describe, expect, it } from 'vitest';
import { fieldOf, newRow, offloadFields, settingsOf } from './path-rows.ts';

const settings = {
  cloud: 's3' as const,
  bucket: 'files',
  bucket_region: 'eu-central-1',
  path_settings: [
    { path: '/a/', redirect_type: 'permanent' as const, excluded_paths: ['/a/x', '/a/y'] },
    { path: '/b/', redirect_type: 'break' as const, excluded_paths: [] },
  ],
};

describe('paths of the offload form', () => {
  it('survive conversion in both directions', () => {
    const { cloud: _, ...fields } = settings;
    expect(settingsOf(offloadFields(settings))).toEqual(fields);
  });

  it('ignore empty lines', () => {
    const paths = [{ key: 1, path: ' /a/ ', redirectType: 'break' as const, excluded: ' /a/x \n\n' }];
    expect(settingsOf({ ...offloadFields(settings), paths }).path_settings).toEqual([
      { path: '/a/', redirect_type: 'break', excluded_paths: ['/a/x'] },
    ]);
  });

  it('have unique keys', () => {
    const { paths: rows } = offloadFields(settings);
    expect(rows.map(({ key }) => key)).not.toContain(newRow(rows).key);
  });
});

it('maps an error to the field of the form', () => {
  expect(fieldOf('path_settings.1.excluded_paths.0')).toBe('path_settings.1.excluded_paths');
  expect(fieldOf('bucket')).toBe('bucket');
});
