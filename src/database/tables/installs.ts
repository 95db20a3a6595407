import type { ColumnType, Generated, Selectable, Updateable } from 'kysely';
import type { GeneratedJson, Json, NullableJson } from './json.ts';

export interface SiteRow {
  seq: Generated<number>;
  id: string;
  account_id: string;
  name: string;
  /** For experiments; cannot be transferred. */
  sandbox: Generated<boolean>;
  /** Built to be handed over to another account. */
  transferable: Generated<boolean>;
  /** Array of tags, in the order of their keys. */
  tags: GeneratedJson;
  /** The keys of the tags, each between line breaks (features/websites/site-tags/tag-keys.ts). */
  tag_keys: Generated<string>;
  created_at: string;
}

export type InstallStatus = 'pending' | 'active' | 'failed';
export type Environment = 'production' | 'staging' | 'development';

export interface InstallRow {
  seq: Generated<number>;
  id: string;
  account_id: string;
  site_id: string | null;
  environment: Environment | null;
  name: string;
  status: InstallStatus;
  /** `major.minor`: the requested version until the install is active, then the actual one; null without PHP. */
  php_version: string | null;
  /** As `php_version`. */
  wordpress_version: Generated<string | null>;
  /** What runs it; null for the kind of its host: WordPress on Linux hosts, files in the embedded host. */
  runtime: Generated<'wordpress' | 'static' | null>;
  /** The limits of PHP that its users have set; null for the host's defaults. */
  php_limits: ColumnType<unknown, string | null | undefined, string | null>;
  /** Until then the operator's upgrades of WordPress leave it out; null: no deferral. */
  defer_wordpress_until: Generated<string | null>;
  /** The machine that runs it; null until it is placed, and if this process is the host. */
  host_id: Generated<string | null>;
  /** Recipients in an hour, as its users limit them; null for {@link mail_allowance}. */
  mail_limit: Generated<number | null>;
  /** Recipients in an hour that the operator allows; null for the setting. */
  mail_allowance: Generated<number | null>;
  /** Created for a copy that has not succeeded yet: what it has is not the customer's website. */
  awaits_copy: Generated<boolean>;
  /** The missing data of the website, which its host has closed to visitors because of that; null if no data is missing. */
  lost_data: Generated<string | null>;
  /** Updates of WordPress, plugins and themes that wait, as last read. Triggers keep it. */
  waiting_updates: Generated<number>;
  /** Whether its WordPress was never read. Triggers keep it. */
  awaits_reading: Generated<boolean>;
  /** Array of addresses, or null. */
  stable_ips: NullableJson;
  /** Name and content of the file that proves ownership of a bucket; fixed for the install. */
  offload_file_name: string;
  offload_file_content: string;
  created_at: string;
}

/** The number of an account's installs with these values. Triggers keep it (docs/decisions/database.md). */
export interface InstallCountRow {
  account_id: string;
  status: InstallStatus;
  /** Empty without an environment. */
  environment: Environment | '';
  /** Whether updates wait. */
  is_waiting: boolean;
  installs: number;
}

/** The number of installs in a site, for the order of lists. Triggers keep it. */
export interface SiteSizeRow {
  /** Of the site. */
  seq: number;
  site_id: string;
  account_id: string;
  installs: number;
}

/** A tag of a site, for filters. Triggers make it of the tags of the site. */
export interface SiteTagRow {
  site_id: string;
  /** What identifies the tag (features/websites/site-tags/tag-keys.ts). */
  key: string;
  tag: string;
  account_id: string;
  /** The number of installs in the site. */
  installs: number;
}

/** The number of sites and installs of an account with a tag. Triggers keep it. */
export interface TagCountRow {
  account_id: string;
  key: string;
  /** As it is written. */
  tag: string;
  sites: number;
  installs: number;
}

/** The columns of an install as queries return them. */
export type StoredInstall = Selectable<InstallRow>;
/** Some columns of an install as queries store them. */
export type ChangedInstall = Updateable<InstallRow>;

export interface OffloadSettingsRow {
  install_id: string;
  /** The active settings, or null. */
  settings: NullableJson;
  /** The last requested settings; JSON's null if offload is to be switched off. */
  requested: Json;
  state: 'requested' | 'in_force' | 'refused';
  /** Why the last request was refused, one sentence. */
  reason: string | null;
  updated_at: string;
}
