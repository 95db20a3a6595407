import { posix } from 'node:path';
import {
  type ItemChange,
  type PackageSource,
  THEME_ID,
} from '../../../hosting/contract/wordpress-changes.ts';
import { InvalidRequest, invalidValue } from '../../../lib/failures.ts';

/** The resource that faults of a request name. */
export const ITEM = 'WordPressItem';

/** A wanted state of a plugin or theme. */
export interface RequestedChange {
  kind: ItemChange['kind'];
  id: string;
  status?: NonNullable<ItemChange['status']>;
  auto_update?: boolean;
  keep?: boolean;
}

/** A plugin or theme to install, from exactly one source. */
export interface RequestedInstallation {
  kind: ItemChange['kind'];
  slug?: string;
  path?: string;
  url?: string;
  activate?: boolean;
  keep?: boolean;
}

/** Throws InvalidRequest. */
export function readChange({ kind, id, status, auto_update, keep = false }: RequestedChange): ItemChange {
  if (status === undefined && auto_update === undefined) {
    throw new InvalidRequest('Name what to change: status or auto_update.');
  }
  if (status === 'deleted' && auto_update !== undefined) {
    throw invalidValue(ITEM, 'auto_update', 'not_applicable', 'A deleted plugin or theme has no updates');
  }
  if (status === undefined && keep) {
    throw invalidValue(ITEM, 'keep', 'not_applicable', 'Pages are checked only after a change of the status');
  }
  if (kind === 'theme' && status === 'inactive') {
    throw invalidValue(ITEM, 'status', 'not_applicable', 'A theme is deactivated by activating another one');
  }
  if (kind === 'theme' && !new RegExp(THEME_ID, 'u').test(id)) {
    throw invalidValue(ITEM, 'id', 'invalid_format', "A theme's id is the name of its folder, not a path");
  }
  return {
    kind,
    id,
    source: null,
    status: status ?? null,
    autoUpdate: auto_update ?? null,
    ...(keep ? { keep } : {}),
  };
}

/** Throws InvalidRequest. */
export function readInstallation({
  kind,
  activate,
  keep = false,
  ...source
}: RequestedInstallation): ItemChange {
  return {
    kind,
    id: null,
    source: readSource(source),
    status: activate === true ? 'active' : null,
    autoUpdate: null,
    ...(keep ? { keep } : {}),
  };
}

function readSource({
  slug,
  path,
  url,
}: Pick<RequestedInstallation, 'slug' | 'path' | 'url'>): PackageSource {
  if ([slug, path, url].filter((given) => given !== undefined).length !== 1) {
    throw new InvalidRequest('Name exactly one of slug, path and url.');
  }
  if (slug !== undefined) return { slug };
  if (path !== undefined) {
    const parts = path.split('/');
    if (parts[0] !== 'private' || parts.length < 2 || parts.some((part) => ['', '.', '..'].includes(part))) {
      throw invalidValue(
        ITEM,
        'path',
        'invalid_format',
        'The path must begin with private/ and must not contain "..", "." or "//"',
      );
    }
    return { file: path };
  }
  if (url === undefined || URL.parse(url)?.protocol !== 'https:') {
    throw invalidValue(ITEM, 'url', 'invalid_format', 'The URL must be valid and begin with https://');
  }
  return { url };
}

/** A source as the activity shows it. A URL can contain a signature, so only its host is shown. */
export function describeSource(source: PackageSource): string {
  if ('slug' in source) return source.slug;
  return 'file' in source ? posix.basename(source.file) : new URL(source.url).hostname;
}
