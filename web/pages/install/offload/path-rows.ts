import type { OffloadSettings } from '../../../api/offload.ts';
import { linesOf } from '../../../components/lines.ts';

type PathSetting = OffloadSettings['path_settings'][number];

/** A path in the form. `excluded` has one path on each line. */
export interface PathRow {
  key: number;
  path: string;
  redirectType: PathSetting['redirect_type'];
  excluded: string;
}

export const newRow = (rows: readonly PathRow[]): PathRow => ({
  key: Math.max(0, ...rows.map(({ key }) => key)) + 1,
  path: '',
  redirectType: 'break',
  excluded: '',
});

/** The folder of WordPress uploads, as a first suggestion. */
const FIRST: PathRow = { key: 1, path: '/wp-content/uploads/', redirectType: 'break', excluded: '' };

function rowsOf(settings: OffloadSettings | null): PathRow[] {
  if (settings === null) return [FIRST];
  return settings.path_settings.map(({ path, redirect_type, excluded_paths }, index) => ({
    key: index + 1,
    path,
    redirectType: redirect_type,
    excluded: excluded_paths.join('\n'),
  }));
}

/** The fields of the form. */
export interface OffloadFields extends Record<string, unknown> {
  bucket: string;
  bucket_region: string;
  paths: readonly PathRow[];
}

export const offloadFields = (settings: OffloadSettings | null): OffloadFields => ({
  bucket: settings?.bucket ?? '',
  bucket_region: settings?.bucket_region ?? '',
  paths: rowsOf(settings),
});

export const settingsOf = ({ bucket, bucket_region, paths }: OffloadFields) => ({
  bucket: bucket.trim(),
  bucket_region: bucket_region.trim(),
  path_settings: paths.map(
    ({ path, redirectType, excluded }): PathSetting => ({
      path: path.trim(),
      redirect_type: redirectType,
      excluded_paths: linesOf(excluded),
    }),
  ),
});

/** Maps a field of the request to a field of the form. */
export function fieldOf(requestField: string): string {
  return requestField.replace(/^filestore_settings\./, '').replace(/(\.excluded_paths)\.\d+$/, '$1');
}
