import type { ColumnType, Generated } from 'kysely';
import type { Role } from '../access/roles.ts';

/**
 * The shape of the database, the same on SQLite and PostgreSQL (migrations/). Times are ISO 8601 UTC strings with
 * milliseconds, which sort as text; `seq` grows with every row of a table and is what lists are ordered by.
 */
export interface Tables {
  accounts: AccountRow;
  users: UserRow;
  memberships: MembershipRow;
  install_grants: InstallGrantRow;
  invitations: InvitationRow;
  credentials: CredentialRow;
  second_factors: SecondFactorRow;
  recovery_codes: RecoveryCodeRow;
  sessions: SessionRow;
  password_links: PasswordLinkRow;
  activity: ActivityRow;
  sites: SiteRow;
  installs: InstallRow;
  domains: DomainRow;
  certificates: CertificateRow;
  certificate_attempts: CertificateAttemptRow;
  acme_accounts: AcmeAccountRow;
  acme_validations: AcmeValidationRow;
  offload_settings: OffloadSettingsRow;
  backups: BackupRow;
  restore_checks: RestoreCheckRow;
  hosts: HostRow;
  host_authority: HostAuthorityRow;
  ssh_keys: SshKeyRow;
  domain_reports: DomainReportRow;
  install_limits: InstallLimitRow;
  rate_windows: RateWindowRow;
  jobs: JobRow;
  workers: WorkerRow;
  schedule_runs: ScheduleRunRow;
  changes: ChangeRow;
}

/** Parsed when read, text when written. Whoever reads it checks it against a schema. */
type Json = ColumnType<unknown, string, string>;

interface AccountRow {
  seq: Generated<number>;
  id: string;
  name: string;
  /** Kept by the transactions that create and delete sites; counting rows is what lists cost most. */
  site_count: Generated<number>;
  /** Kept by the transactions that create and delete installs. */
  install_count: Generated<number>;
  /** Whether its people must have a second factor to work in it through the portal. */
  requires_second_factor: Generated<boolean>;
  created_at: string;
}

interface UserRow {
  seq: Generated<number>;
  id: string;
  email: string;
  /** The address in lower case: one person, however they capitalise. */
  email_key: string;
  first_name: string;
  last_name: string;
  phone: string | null;
  /** argon2id, PHC string format; null until the first invitation is accepted. */
  password_hash: string | null;
  mfa_enabled: Generated<boolean>;
  created_at: string;
}

interface MembershipRow {
  seq: Generated<number>;
  account_id: string;
  user_id: string;
  role: Role;
  billing: boolean;
  invite_accepted: boolean;
  /** As whom the person was invited: until they accept, their own names are not shown. Null once they have. */
  invited_first_name: string | null;
  invited_last_name: string | null;
  created_at: string;
}

/** Gives a partial user one install. */
interface InstallGrantRow {
  install_id: string;
  account_id: string;
  user_id: string;
}

interface InvitationRow {
  /** SHA-256 of the token in the link, hex. */
  token_hash: string;
  account_id: string;
  user_id: string;
  expires_at: string;
  created_at: string;
}

interface CredentialRow {
  seq: Generated<number>;
  /** The API username. */
  id: string;
  user_id: string;
  name: string;
  /** SHA-256 of the API password, hex. The password is random, so a slow hash would protect nothing. */
  password_hash: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** Narrower than its person's own rights: reading alone, one account, or some installs of that account. */
  read_only: Generated<boolean>;
  account_id: Generated<string | null>;
  /** Array of ids; one of an install that is gone stands for nothing. */
  install_ids: ColumnType<unknown, string | null | undefined, string | null>;
  created_at: string;
}

/** What makes a person's one-time codes (RFC 6238). */
interface SecondFactorRow {
  user_id: string;
  /** Base32, sealed. */
  sealed_secret: string;
  /** Null while it is only being enrolled: it counts for nothing yet. */
  confirmed_at: string | null;
  /** The time step of the last code that was taken: it and earlier ones are refused. */
  last_step: number | null;
  created_at: string;
}

interface RecoveryCodeRow {
  user_id: string;
  /** SHA-256, hex. */
  code_hash: string;
  used_at: string | null;
}

/** One browser that somebody signed in with. */
interface SessionRow {
  seq: Generated<number>;
  id: string;
  /** SHA-256 of what the cookie holds, hex. */
  token_hash: string;
  user_id: string;
  /** The password was right; nothing but the second factor is taken. */
  awaits_second_factor: boolean;
  /** Codes that were not right; after a few the session is gone. */
  wrong_codes: Generated<number>;
  address: string;
  user_agent: string | null;
  /** To the minute. */
  last_seen_at: string;
  expires_at: string;
  created_at: string;
}

/** A link with which somebody sets a password without knowing one. */
interface PasswordLinkRow {
  /** SHA-256 of the token in the link, hex. */
  token_hash: string;
  user_id: string;
  purpose: 'first' | 'reset';
  expires_at: string;
  created_at: string;
}

/** One change, as it is told to those who see the account. What was named then stays named, though it be gone. */
interface ActivityRow {
  seq: Generated<number>;
  id: string;
  /** Null: of the platform, and of people who are in no account. */
  account_id: string | null;
  at: string;
  /** `install.create`; the closed set is in resources/activity/record.ts. */
  action: string;
  subject_id: string | null;
  subject_name: string;
  /** The install that the subject belongs to or is. */
  install_id: string | null;
  /** Object of texts, numbers, booleans, null. Never a secret. */
  details: ColumnType<unknown, string | null, string | null>;
  /** Who; null: nobody signed in (the operator, the platform itself). */
  user_id: string | null;
  user_name: string;
  means: 'api' | 'portal' | 'command_line' | 'platform';
  credential_id: string | null;
  credential_name: string | null;
  address: string | null;
  request_id: string | null;
}

interface SiteRow {
  seq: Generated<number>;
  id: string;
  account_id: string;
  name: string;
  created_at: string;
}

export type InstallStatus = 'pending' | 'active' | 'failed';
export type Environment = 'production' | 'staging' | 'development';

interface InstallRow {
  seq: Generated<number>;
  id: string;
  account_id: string;
  site_id: string | null;
  environment: Environment | null;
  name: string;
  status: InstallStatus;
  /** `major.minor`: what was asked for until the install is active, then what it runs on; null where there is no PHP. */
  php_version: string | null;
  /** As `php_version`. */
  wordpress_version: Generated<string | null>;
  /** The machine that it is on; null until it is placed, and where this process itself hosts. */
  host_id: Generated<string | null>;
  /** Array of addresses, or null. */
  stable_ips: ColumnType<unknown, string | null, string | null>;
  /** Name and content of the file that proves a bucket to be the customer's; fixed for the install. */
  offload_file_name: string;
  offload_file_content: string;
  created_at: string;
}

export type NetworkStatus = 'PENDING' | 'ACTIVE' | 'FAILED';
export type SslStatus = 'pending' | 'active' | 'failed' | 'none';

interface DomainRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  name: string;
  /** The install's own `<name>.<site domain>`, which cannot be deleted. */
  is_cname: boolean;
  is_primary: boolean;
  /** Another install has the name and serves it. At most one row of a name is not a duplicate. */
  is_duplicate: boolean;
  redirect_to_id: string | null;
  secure_all_urls: Generated<boolean>;
  network_status: Generated<NetworkStatus>;
  ssl_status: Generated<SslStatus>;
  /** Whether the last check saw visitors of this name arrive here; null while no check could tell. */
  reached: boolean | null;
  checked_at: string | null;
  /** Why there is no certificate from the authority, one sentence for the domain's owner. */
  ssl_reason: string | null;
  created_at: string;
}

export type CertificateSource = 'LETS_ENCRYPT' | 'THIRD_PARTY' | 'SELF_SIGNED';

/** What the edge shows for a domain; one certificate for each. */
interface CertificateRow {
  seq: Generated<number>;
  domain_id: string;
  source: CertificateSource;
  /** PEM, leaf first. */
  chain: string;
  /** PKCS#8 PEM, sealed (secrets.ts). */
  sealed_key: string;
  not_before: string;
  not_after: string;
  /** The authority that issued it; null for a self-signed one, and so are the next four. */
  directory_url: string | null;
  order_url: string | null;
  /** By which the authority suggests when to renew (RFC 9773). */
  renewal_id: string | null;
  renew_at: string | null;
  /** The fewest days before the expiry at which the operator was warned of it; null: not yet. */
  warned_days: number | null;
  created_at: string;
}

/** When the authority is asked next for a domain's certificate, and how often in a row that failed. */
interface CertificateAttemptRow {
  domain_id: string;
  failures: Generated<number>;
  next_at: string;
  /** Nobody may ask before, however urgent: the authority said so, or it was asked only just now. */
  held_until: string | null;
  /** The order that is under way; what an earlier one finds out counts no more. */
  order_id: string | null;
}

/** One account for each authority, whatever process made it. */
interface AcmeAccountRow {
  directory_url: string;
  /** PKCS#8 PEM, sealed. */
  sealed_key: string;
  /** Null until the authority has registered it. */
  account_url: string | null;
  created_at: string;
}

/** One row for each validation asked of the authority: there is a limit for each name and hour. */
interface AcmeValidationRow {
  seq: Generated<number>;
  name: string;
  at: string;
}

interface OffloadSettingsRow {
  install_id: string;
  /** What is in force, or null while nothing is. */
  settings: ColumnType<unknown, string | null, string | null>;
  /** What was asked for last. */
  requested: Json;
  state: 'requested' | 'in_force' | 'refused';
  /** Why the last request was refused, one sentence. */
  reason: string | null;
  updated_at: string;
}

export type BackupStatus = 'requested' | 'in_progress' | 'completed' | 'aborted';

interface BackupRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  description: string;
  /** Array of addresses. */
  notification_emails: Json;
  status: BackupStatus;
  /** Size in bytes, number of files and SHA-256 of the archive; null until completed. */
  bytes: number | null;
  files: number | null;
  sha256: string | null;
  /** Why it was aborted, one sentence. */
  reason: string | null;
  requested_by: string | null;
  /** Made by the daily schedule, and deleted by it. */
  scheduled: Generated<boolean>;
  created_at: string;
  finished_at: string | null;
}

/** Whether a backup could be restored, tried in a scratch install. */
interface RestoreCheckRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  backup_id: string;
  took_ms: number;
  /** Why it could not, one sentence; null if it could. */
  reason: string | null;
  created_at: string;
}

interface HostRow {
  seq: Generated<number>;
  /** The host's own id, which it tells itself. */
  id: string;
  name: string;
  /** `unix:/run/homeport-host/host.sock` or `https://address:port`. */
  address: string;
  /** Whether new installs are placed on it. */
  accepting: Generated<boolean>;
  /** HostDescription as it was last told; null before. */
  description: ColumnType<unknown, string | null, string | null>;
  /** When it last answered. */
  seen_at: string | null;
  /** Why it does not answer, one sentence; null while it does. */
  reason: string | null;
  created_at: string;
}

/** The one authority that this platform's hosts and itself know each other by. */
interface HostAuthorityRow {
  one: 1;
  /** PEM. */
  certificate: string;
  sealed_key: string;
  client_certificate: string;
  sealed_client_key: string;
  created_at: string;
}

interface SshKeyRow {
  seq: Generated<number>;
  id: string;
  user_id: string;
  /** Type and base64, without the comment. */
  public_key: string;
  comment: string;
  fingerprint_md5: string;
  fingerprint_sha256: string;
  created_at: string;
}

interface DomainReportRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  domain_id: string;
  complete: boolean;
  report: Json;
  created_at: string;
}

/** When an operation that is limited for each install may be asked for again. */
interface InstallLimitRow {
  install_id: string;
  operation: string;
  next_at: string;
}

/** Requests handed out to the processes in the present window of one key (api/limits.ts). */
interface RateWindowRow {
  key: string;
  window_start: string;
  taken: number;
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

interface JobRow {
  seq: Generated<number>;
  id: string;
  kind: string;
  /** Jobs of one lane run one at a time, in the order they were asked for; null: no lane. */
  lane: string | null;
  payload: Json;
  state: Generated<JobState>;
  /** How often it was begun. */
  attempt: Generated<number>;
  max_attempts: number;
  run_at: string;
  lease_until: string | null;
  worker_id: string | null;
  /** The last failure, one line for the operator. */
  error: string | null;
  /** The same for the customer, one sentence. */
  reason: Generated<string | null>;
  /** The request that asked for it. */
  request_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

interface WorkerRow {
  id: string;
  /** Host name and process id, for people. */
  process: string;
  seen_at: string;
}

/** One row for each time slot of a schedule that some process has taken on. */
interface ScheduleRunRow {
  schedule: string;
  slot: string;
}

/** Of SQLite alone: what its triggers tell (change-feed.ts). */
interface ChangeRow {
  seq: Generated<number>;
  topic: string;
  account_id: string;
  install_id: string | null;
  id: string | null;
  user_id: string | null;
}
