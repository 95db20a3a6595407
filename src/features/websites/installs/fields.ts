import { nullableString, nullableTimestamp, type Static, type TSchema, Type } from '../../../api/schema.ts';
import type { ChangedInstall, StoredInstall } from '../../../database/tables/installs.ts';
import { RUNTIMES } from '../../../hosting/contract/install-state.ts';
import { readDeferral } from './deferral.ts';

// The plain fields of an install: columns that answers show, that users change, and that are restored with a deleted install. Queries,
// types, schemas and examples are built from these lists. docs/decisions/fields.md says how to add a field.

/** Schemas of the columns in answers. */
export const answeredSchemas = {
  php_version: nullableString('null if the host runs no PHP'),
  wp_version: nullableString('version of WordPress; null until the website answers, and without WordPress'),
  defer_wordpress_upgrades_until: nullableTimestamp('the operator leaves WordPress as it is until then'),
  lost_data: nullableString(
    'an addition of Homeport: the missing data. The website is closed to visitors until it is back. Null if nothing is missing',
  ),
};

export const answeredExamples = {
  php_version: '8.4',
  wp_version: '6.8.3',
  defer_wordpress_upgrades_until: null,
  lost_data: null,
} satisfies { [Name in AnsweredName]: Static<(typeof answeredSchemas)[Name]> };

/** Their columns, under the names of the API. */
export const ANSWERED_COLUMNS = [
  'install.php_version',
  'install.wordpress_version as wp_version',
  'install.defer_wordpress_until as defer_wordpress_upgrades_until',
  'install.lost_data',
] as const satisfies readonly Selected<AnsweredName>[];

/** Schemas of the columns that users change by `PATCH /installs/{install_id}`, without consequences for other rows. */
export const settingSchemas = {
  defer_wordpress_upgrades_until: Type.Optional(
    nullableTimestamp('in the future, at most a year ahead; null: no deferral'),
  ),
};

export const settingExamples = { defer_wordpress_upgrades_until: null };

export type InstallSettings = {
  [Name in keyof typeof settingSchemas]?: Static<(typeof settingSchemas)[Name]>;
};

export const SETTING_COLUMNS = [
  'install.defer_wordpress_until as defer_wordpress_upgrades_until',
] as const satisfies readonly Selected<keyof InstallSettings>[];

/** Checks changed settings and converts them into their stored form. Throws InvalidRequest. */
export function readSettings(change: InstallSettings, now: Date): InstallSettings {
  const until = readDeferral(change.defer_wordpress_upgrades_until, now);
  return { ...(until === undefined ? {} : { defer_wordpress_upgrades_until: until }) };
}

/** Renames changed settings to their columns. Only this one has another name. */
export function columnsOfSettings({
  defer_wordpress_upgrades_until: until,
  ...same
}: InstallSettings): ChangedInstall {
  return { ...same, ...(until === undefined ? {} : { defer_wordpress_until: until }) };
}

/** Columns that are restored with a deleted install. */
export const KEPT_COLUMNS = [
  ...(['site_id', 'environment', 'php_version', 'wordpress_version', 'runtime'] as const),
  ...(['defer_wordpress_until', 'mail_limit', 'mail_allowance'] as const),
  ...(['offload_file_name', 'offload_file_content', 'created_at'] as const),
] as const;

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = Type.String();

/** Their stored form. Earlier versions did not store new columns, so their schemas must be optional. */
export const keptSchemas = {
  site_id: orNull(text),
  environment: orNull(Type.Enum(['production', 'staging', 'development'])),
  php_version: orNull(text),
  wordpress_version: orNull(text),
  runtime: Type.Optional(orNull(Type.Enum([...RUNTIMES]))),
  defer_wordpress_until: orNull(text),
  mail_limit: orNull(Type.Number()),
  mail_allowance: orNull(Type.Number()),
  offload_file_name: text,
  offload_file_content: text,
  created_at: text,
} satisfies { [Column in (typeof KEPT_COLUMNS)[number]]: TSchema };

type AnsweredName = keyof typeof answeredSchemas;

/** A column of installs under a name of the API. */
type Selected<Name extends string> =
  | `install.${keyof StoredInstall & Name}`
  | `install.${keyof StoredInstall} as ${Name}`;
