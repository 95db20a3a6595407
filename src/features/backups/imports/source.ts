import Type from 'typebox';
import { Value } from 'typebox/value';
import type { ChosenSite, ImportSource, SshSource } from '../../../hosting/contract/imports.ts';
import { invalidValue } from '../../../lib/failures.ts';
import type { Sealer } from '../../../secrets/sealer.ts';

/** The resource that faults of a request name. */
export const IMPORT = 'WebsiteImport';

export const IMPORT_SOURCES = ['file', 'url', 'ssh'] as const;
export const SSH_PORT = 22;

/** A source as it is requested. The private key joins it when the import runs. */
export type WantedSource = Exclude<ImportSource, { ssh: SshSource }> | { ssh: Omit<SshSource, 'privateKey'> };

export interface RequestedSource {
  source: (typeof IMPORT_SOURCES)[number];
  path?: string;
  url?: string;
  site?: string;
  host?: string;
  port?: number;
  user?: string;
  host_key?: string;
}

const FIELDS = ['path', 'url', 'site', 'host', 'port', 'user', 'host_key'] as const;
const FIELDS_OF: Record<RequestedSource['source'], readonly (typeof FIELDS)[number][]> = {
  file: ['path', 'site'],
  url: ['url', 'site'],
  ssh: ['path', 'host', 'port', 'user', 'host_key'],
};

/** The source in a request. Throws InvalidRequest. */
export function readSource(requested: RequestedSource): WantedSource {
  const { source } = requested;
  for (const field of FIELDS) {
    if (requested[field] !== undefined && !FIELDS_OF[source].includes(field)) {
      throw invalidValue(IMPORT, field, 'not_applicable', `The source ${source} has no ${field}`);
    }
  }
  switch (source) {
    case 'file':
      return {
        file: archivePath(required(requested.path, 'path', 'Name the path of the archive')),
        ...chosenSite(requested),
      };
    case 'url':
      return {
        url: httpsUrl(required(requested.url, 'url', 'Name the URL of the archive')),
        ...chosenSite(requested),
      };
    case 'ssh':
      return {
        ssh: {
          host: required(requested.host, 'host', 'Name the old host'),
          port: requested.port ?? SSH_PORT,
          user: required(requested.user, 'user', 'Name your user on the old host'),
          path: required(requested.path, 'path', 'Name the folder of the WordPress on the old host'),
          hostKey: requested.host_key ?? null,
        },
      };
  }
}

const chosenSite = ({ site }: RequestedSource): ChosenSite => (site === undefined ? {} : { site });

function required(value: string | undefined, field: string, message: string): string {
  if (value === undefined) throw invalidValue(IMPORT, field, 'missing', message);
  return value;
}

function archivePath(path: string): string {
  const parts = path.split('/');
  if (parts[0] !== 'private' || parts.length < 2 || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw invalidValue(
      IMPORT,
      'path',
      'invalid_format',
      'The path must begin with private/ and must not contain "..", "." or "//"',
    );
  }
  return path;
}

function httpsUrl(url: string): string {
  if (URL.parse(url)?.protocol !== 'https:') {
    throw invalidValue(IMPORT, 'url', 'invalid_format', 'The URL must be valid and begin with https://');
  }
  return url;
}

const storedSource = Type.Union([
  Type.Object({ file: Type.String(), site: Type.Optional(Type.String()) }),
  Type.Object({ url: Type.String(), site: Type.Optional(Type.String()) }),
  Type.Object({
    ssh: Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      user: Type.String(),
      path: Type.String(),
      hostKey: Type.Union([Type.String(), Type.Null()]),
    }),
  }),
]);

/** Opens the source in the payload of a job. */
export const openSource = (sealer: Pick<Sealer, 'open'>, sealed: string): WantedSource =>
  Value.Parse(storedSource, JSON.parse(sealer.open(sealed)));
