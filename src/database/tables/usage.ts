import type { Environment } from './installs.ts';

/** An install with usage. It stays until its last day is deleted, also if the install itself is gone. */
export interface UsageInstallRow {
  install_id: string;
  account_id: string;
  /** Id of the host that counts it, or `embedded`. */
  host: string;
  name: string;
  environment: Environment | null;
}

/** An install that left an account by deletion or transfer. The account keeps its figures. Triggers keep these rows. */
export interface UsageFormerInstallRow {
  account_id: string;
  install_id: string;
}

/** When the storage of an install of the account was last measured. Triggers keep these rows. */
export interface UsageMeasurementRow {
  account_id: string;
  measured_at: string;
}

/** The traffic of all installs of an account on one day, as one source reported it. Triggers keep it. */
export interface UsageAccountDayRow {
  account_id: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  source: string;
  requests: number;
  bytes: number;
  visits: number;
  /** The installs with a day of this source. */
  installs: number;
}

/** The traffic of an install on one day, as one host counted it. The counts of several sources add up. */
export interface UsageTrafficRow {
  install_id: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  /** The host and its ledger. */
  source: string;
  /** The account that the install belonged to. */
  account_id: string;
  requests: number;
  bytes: number;
  visits: number;
  /** Requests that asked the page cache. This and the following are null on hosts that do not measure them. */
  page_requests: number | null;
  page_hits: number | null;
  page_ms: number | null;
}

/** The last measurement of an install's storage on one day. */
export interface UsageStorageRow {
  install_id: string;
  day: string;
  account_id: string;
  file_bytes: number;
  /** The following are null on hosts without databases. */
  database_bytes: number | null;
  data_bytes: number | null;
  tables_count: number | null;
  autoloaded_bytes: number | null;
  measured_at: string;
}

/** How far the control plane has read the ledger of a host. */
export interface UsageCursorRow {
  host: string;
  ledger: string;
  revision: number;
  collected_at: string;
}

/** The limits of an account for each month; null without a limit. */
export interface AccountLimitRow {
  account_id: string;
  visitors: number | null;
  /** Bytes. */
  storage: number | null;
  /** Bytes. */
  bandwidth: number | null;
  updated_at: string;
}

/** A warning that the owners of an account got. */
export interface LimitWarningRow {
  account_id: string;
  limited: 'visitors' | 'storage' | 'bandwidth';
  /** Percent. */
  threshold: number;
  /** `YYYY-MM`, UTC. */
  month: string;
  created_at: string;
}

/** How far an install has used a limit of its files, as last measured. */
export interface InstallQuotaRow {
  install_id: string;
  limited: 'disk' | 'files';
  /** Bytes, or files and folders. */
  used: number;
  allowed: number;
  /** Percent of the last warning; 0: none. */
  threshold: number;
  measured_at: string;
}
