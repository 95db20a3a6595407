import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { WEEKDAYS } from '../../updates/policy.ts';
import { keptSchemas } from '../../websites/installs/fields.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = Type.String();

const backup = Type.Object({
  id: text,
  description: text,
  bytes: orNull(Type.Number()),
  files: orNull(Type.Number()),
  sha256: orNull(text),
  scheduled: Type.Boolean(),
  checkpoint: Type.Boolean(),
  wordpress_version: orNull(text),
  verified_at: orNull(text),
  created_at: text,
  finished_at: orNull(text),
  /** Since when its host does not hold it; null while it does. Earlier versions did not store it. */
  missing_since: Type.Optional(orNull(text)),
});

const limit = orNull(Type.Integer());

/** The certificate of a domain, with its sealed key. Self-signed ones are not kept. */
const certificate = Type.Object({
  /** Name of the domain. */
  domain: text,
  source: Type.Enum(['LETS_ENCRYPT', 'THIRD_PARTY']),
  chain: text,
  sealed_key: text,
  not_before: text,
  not_after: text,
  directory_url: orNull(text),
  order_url: orNull(text),
  renewal_id: orNull(text),
  renew_at: orNull(text),
  upload_id: orNull(text),
  warned_days: limit,
  created_at: text,
});

const keptSchema = Type.Object({
  ...keptSchemas,
  /** Custom domains that the install served. */
  domains: Type.Array(
    Type.Object({
      name: text,
      is_primary: Type.Boolean(),
      secure_all_urls: Type.Boolean(),
      /** Name of the target; null for none. */
      redirect_to: orNull(text),
    }),
  ),
  /** Its rules for visitors; null for the usual ones. Without them, a website with a password would come back without it. */
  rules: orNull(
    Type.Object({
      protection: Type.Object({}),
      sealed_password: orNull(text),
      password_hash: orNull(text),
      redirects: Type.Array(Type.Object({})),
      cache_rules: orNull(Type.Object({})),
    }),
  ),
  /** Completed backups, oldest first. */
  backups: Type.Array(backup),
  /** Partial users of the install. */
  users: Type.Array(text),
  // Earlier versions did not store the fields below, so they are optional. New fields must be, too.
  /** Limits of PHP that its users have set; null for the host's. */
  php_limits: Type.Optional(
    orNull(
      Type.Object({ memoryMb: limit, uploadMb: limit, seconds: limit, workers: limit, inputVars: limit }),
    ),
  ),
  /** Its policy of updates; null for the default. */
  update_policy: Type.Optional(
    orNull(
      Type.Object({
        core: Type.Enum(['none', 'security', 'minor', 'all']),
        plugins: Type.Enum(['none', 'weekly', 'daily']),
        themes: Type.Enum(['none', 'weekly', 'daily']),
        window: orNull(
          Type.Object({
            days: Type.Array(Type.Enum([...WEEKDAYS])),
            from_hour: Type.Integer(),
            hours: Type.Integer(),
            time_zone: text,
          }),
        ),
        pages: Type.Array(text),
      }),
    ),
  ),
  /** The active settings of offload; null without them. */
  offload: Type.Optional(orNull(Type.Object({}))),
  certificates: Type.Optional(Type.Array(certificate)),
});

/** The facts about a deleted install that a restore puts back. */
export type Kept = Static<typeof keptSchema>;
export type KeptBackup = Static<typeof backup>;
export type KeptCertificate = Static<typeof certificate>;

/** The newest backup that its host holds, as far as known. */
export const newestPresent = ({ backups }: Kept): KeptBackup | undefined =>
  backups.findLast(({ missing_since = null }) => missing_since === null);

const columns = Type.Object(keptSchemas);

/** The columns of the install among the facts, without facts that only a later version knows. */
export const columnsOf = (kept: Kept): Static<typeof columns> =>
  Value.Parse(columns, Value.Clean(columns, { ...kept }));

/** Reads the stored facts, also those that an earlier version stored. */
export function parseKept(stored: unknown): Kept {
  return Value.Parse(keptSchema, stored);
}
