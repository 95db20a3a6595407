import type { Static } from 'typebox';
import { type Fault, INVALID_PARAMETERS, InvalidRequest } from '../../../lib/failures.ts';
import { type filestoreSettingsSchema, MOST_PATHS } from './schema.ts';

type PathSetting = Static<typeof filestoreSettingsSchema>['path_settings'][number];

/**
 * Requires that each path has an effect: the edge compares them with the decoded path of a request, without empty segments. Throws
 * InvalidRequest, which names each path without one.
 */
export function requireUsablePaths(settings: readonly PathSetting[]): void {
  refuse(tooMany(settings));
  refuse(settings.flatMap((setting, index) => [...unreachable(setting, index), ...stray(setting, index)]));
  refuse(repeated(settings));
}

function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw new InvalidRequest(INVALID_PARAMETERS, faults);
}

function fault(field: string, code: string, message: string): Fault {
  return { resource: 'OffloadSettings', field, type: 'invalid_value', code, message };
}

function tooMany(settings: readonly PathSetting[]): Fault[] {
  const paths = settings.reduce((sum, { excluded_paths }) => sum + 1 + excluded_paths.length, 0);
  if (paths <= MOST_PATHS) return [];
  const message = `path_settings can have ${MOST_PATHS} paths in total, excluded ones included, and these are ${paths}`;
  return [fault('path_settings', 'too_many', message)];
}

/** Browsers and the edge resolve `.` and `..`, also if they are encoded, so no request has them. */
function unreachable({ path, excluded_paths }: PathSetting, index: number): Fault[] {
  const places = [
    { at: `path_settings.${index}.path`, given: path },
    ...excluded_paths.map((given, at) => ({ at: `path_settings.${index}.excluded_paths.${at}`, given })),
  ];
  return places.flatMap(({ at, given }) => {
    if (/%[0-9a-f]{2}/i.test(given)) {
      return [
        fault(at, 'encoded', `${given} contains a percent-encoded character; write the character itself`),
      ];
    }
    if (!segmentsOf(given).some((segment) => segment === '.' || segment === '..')) return [];
    return [fault(at, 'unreachable', `${given} contains the segment . or .., which no request has`)];
  });
}

/** An exclusion outside its path would have no effect, and one of the whole path would leave the path none. */
function stray({ path, excluded_paths }: PathSetting, index: number): Fault[] {
  const field = `path_settings.${index}.excluded_paths`;
  const prefix = segmentsOf(path);
  return excluded_paths.flatMap((excluded) => {
    const segments = segmentsOf(excluded);
    if (!prefix.every((segment, at) => segments[at] === segment)) {
      return [fault(field, 'outside_path', `${excluded} is not below ${path}`)];
    }
    if (segments.length > prefix.length) return [];
    return [
      fault(field, 'excludes_path', `${excluded} excludes everything below ${path}; remove one of the two`),
    ];
  });
}

/** Of equal paths, the edge follows the first only. */
function repeated(settings: readonly PathSetting[]): Fault[] {
  const first = new Map<string, number>();
  return settings.flatMap(({ path }, index) => {
    const key = segmentsOf(path).join('/');
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const message = `${path} is the same path as number ${earlier + 1}`;
    return [fault(`path_settings.${index}.path`, 'repeated', message)];
  });
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}
