import Type, { type TSchema } from 'typebox';
import { INSTALL_NAME } from '../../lib/host-names.ts';
import { BACKUP_PATH, LONGEST_BACKUP_PATH, MOST_RESTORED_PATHS } from './backup-path.ts';
import { field } from './command.ts';
import { SITE_PATTERN, SSH_PATTERNS } from './imports.ts';
import { LONGEST_PAGE_PATH, PAGE_PATH } from './page-path.ts';
import { phpBounds, phpLimits } from './php-messages.ts';
import { cut, newer } from './sent-value.ts';
import { WebsiteRulesSchema } from './website-rules.ts';

// Schemas of the values in messages between the control plane and a host (protocol.ts).

/** Maximum length of a message for people, in characters. Messages may include the end of a program's output. */
export const LONGEST_SENTENCES = 16 * 1024;

export const closed = { additionalProperties: false };
export const text = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
export const pem = Type.String({ maxLength: 128 * 1024, pattern: '^[\\u000a\\u000d\\u0020-\\u007e]*$' });
export const uuid = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
});
export const hostName = Type.String({ pattern: '^(\\*\\.)?[a-z0-9_.-]{1,253}$' });
export const installName = Type.String({ pattern: `^${INSTALL_NAME}$` });
export const phpVersion = Type.String({ pattern: '^\\d{1,2}\\.\\d{1,2}$' });
export const wordpressVersion = Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,3}){1,2}$' });
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** A host cuts longer ones. */
export const sentences = Type.String({ maxLength: LONGEST_SENTENCES, ...cut });

export const install = Type.Object({ id: uuid, name: installName }, closed);
/** The first parameter of commands about one install. */
export const INSTALL = field('install', install);

const certificate = Type.Object({ chain: pem, key: pem, notAfter: text(40) }, closed);

export const state = Type.Object(
  {
    id: uuid,
    name: installName,
    primaryHostname: hostName,
    hostnames: Type.Array(
      Type.Object(
        {
          name: hostName,
          redirectTo: orNull(hostName),
          forceHttps: Type.Boolean(),
          certificate: orNull(certificate),
        },
        closed,
      ),
    ),
    offload: orNull(
      Type.Object(
        {
          bucket: text(255),
          region: text(255),
          paths: Type.Array(
            Type.Object(
              {
                path: text(4096),
                excludedPaths: Type.Array(text(4096)),
                redirectType: Type.Union([Type.Literal('break'), Type.Literal('permanent')]),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    phpVersion: orNull(phpVersion),
    wordpressVersion: orNull(wordpressVersion),
    // Absent without limits of its own, so that hosts of earlier versions accept the state.
    mail: Type.Optional(
      orNull(Type.Object({ perHour: Type.Integer({ minimum: 0, maximum: 1_000_000 }) }, closed)),
    ),
    rules: Type.Optional(orNull(WebsiteRulesSchema)),
    php: Type.Optional(orNull(phpLimits)),
    // The control plane leaves it out for hosts whose description does not name it.
    isMade: Type.Optional(Type.Boolean(newer(false))),
  },
  closed,
);

export const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const snapshot = Type.Object({
  bytes: count,
  files: count,
  sha256,
});
export const restoredSnapshot = Type.Object({ ...snapshot.properties, warning: Type.Optional(text(1_000)) });

export const backupPath = Type.String({ maxLength: LONGEST_BACKUP_PATH, pattern: BACKUP_PATH });

export const parts = Type.Object(
  {
    files: Type.Boolean(),
    paths: Type.Optional(Type.Array(backupPath, { minItems: 1, maxItems: MOST_RESTORED_PATHS })),
    database: Type.Union([
      Type.Literal('all'),
      Type.Literal('none'),
      Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }), {
        minItems: 1,
        maxItems: 1_000,
      }),
    ]),
    dropAbsent: Type.Optional(Type.Boolean(newer(false))),
  },
  { ...closed, ...newer({ files: true, database: 'all' }) },
);

export const pagePath = Type.String({ maxLength: LONGEST_PAGE_PATH, pattern: PAGE_PATH });

/** ISO 8601 in UTC, with milliseconds. */
export const time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });
/** A path below the home of an install. */
const homePath = Type.String({
  minLength: 1,
  maxLength: 1_024,
  pattern: '^private/[^\\u0000-\\u001f\\u007f]+$',
});

const sshSource = Type.Object(
  {
    host: Type.String({ pattern: SSH_PATTERNS.host }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    user: Type.String({ pattern: SSH_PATTERNS.user }),
    path: Type.String({ pattern: SSH_PATTERNS.path }),
    hostKey: orNull(Type.String({ pattern: SSH_PATTERNS.hostKey })),
    privateKey: pem,
  },
  closed,
);

const chosenSite = Type.Optional(Type.String({ pattern: SITE_PATTERN }));

export const importSource = Type.Union([
  Type.Object({ file: homePath, site: chosenSite }, closed),
  Type.Object(
    {
      url: Type.String({ maxLength: 4_096, pattern: '^https://[^\\u0000-\\u0020\\u007f]+$' }),
      site: chosenSite,
    },
    closed,
  ),
  Type.Object({ ssh: sshSource }, closed),
]);

export const importedWebsite = Type.Object({
  tablePrefix: Type.String({ pattern: '^[A-Za-z0-9_]{1,40}$' }),
  files: count,
  bytes: count,
  warning: Type.Optional(text(1_000)),
  notes: Type.Optional(Type.Array(sentences, { maxItems: 20 })),
});

export const proof = { hostname: text(253), path: text(1024) };

export const port = Type.Integer({ minimum: 0, maximum: 65_535 });

export const ipAddress = Type.String({ pattern: '^[0-9a-f.:]{2,45}$' });

/** A Unix user name, as shadow-utils and Debian's packages allow it. */
const logIn = Type.String({ maxLength: 64, pattern: '^[A-Za-z_][A-Za-z0-9_.-]*\\$?$' });

/** A line of a public key file without its comment. The longest is RSA with 16,384 bits. */
export const hostKey = Type.String({
  maxLength: 2_800,
  pattern: '^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]+={0,2}$',
});

const sizes = Type.Object({ total: count, free: count });

/** A host's description of itself, which the control plane stores. Bounded, because the host may be compromised. */
export const descriptionSchema = Type.Object({
  id: uuid,
  capacity: Type.Integer({ minimum: 0, maximum: 100_000 }),
  phpVersions: Type.Array(phpVersion, { maxItems: 50 }),
  wordpressVersions: Type.Array(wordpressVersion, { maxItems: 200 }),
  reservedNames: Type.Array(logIn, { maxItems: 1_000 }),
  ports: Type.Object({ http: port, https: port, ssh: port }),
  sshHostKeys: Type.Optional(Type.Array(hostKey, { maxItems: 8 })),
  platform: Type.Optional(orNull(uuid)),
  php: Type.Optional(phpBounds),
  hasRelay: Type.Optional(Type.Boolean()),
  hasWpCli: Type.Optional(Type.Boolean()),
  keepsLost: Type.Optional(Type.Boolean()),
  makesForRestore: Type.Optional(Type.Boolean()),
  recordsRestores: Type.Optional(Type.Boolean()),
  movesWebsites: Type.Optional(Type.Boolean()),
  sshRelay: Type.Optional(Type.Object({ host: orNull(ipAddress) })),
  sharesSshHostKey: Type.Optional(Type.Boolean()),
  machine: Type.Optional(
    Type.Object({
      processors: Type.Integer({ minimum: 1, maximum: 100_000 }),
      load: Type.Number({ minimum: 0 }),
      memory: sizes,
      disk: sizes,
    }),
  ),
  diskQuotas: Type.Optional(
    Type.Object({
      kind: Type.Union([Type.Literal('project'), Type.Literal('measured'), Type.Literal('none')]),
      advice: orNull(text(1_000)),
    }),
  ),
  walls: Type.Optional(
    Type.Array(
      Type.Object({
        name: text(100),
        weakness: orNull(text(4_000)),
        remedy: orNull(text(1_000)),
      }),
      { maxItems: 20 },
    ),
  ),
  forwarding: Type.Optional(
    Type.Object({
      host: orNull(ipAddress),
      port,
      reaches: Type.Optional(Type.Array(uuid, { maxItems: 1_000 })),
      identity: orNull(Type.Object({ authority: sha256, notAfter: time })),
    }),
  ),
});
