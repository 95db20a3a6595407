import type { AccountRow, InstallGrantRow, InvitationRow, MembershipRow } from './tables/accounts.ts';
import type { ActivityRow } from './tables/activity.ts';
import type { ApiCertificateRow } from './tables/api-certificate.ts';
import type { ArchiveRow, BackupRow, RestoreCheckRow } from './tables/backups.ts';
import type {
  AcmeAccountRow,
  AcmeValidationRow,
  CertificateAttemptRow,
  CertificateRow,
} from './tables/certificates.ts';
import type { ChangeRow } from './tables/changes.ts';
import type { DeletedInstallRow } from './tables/deleted-installs.ts';
import type {
  DomainLookRow,
  DomainProofRow,
  DomainReportRow,
  DomainRow,
  PrimaryDomainRow,
  ReleasedNameRow,
} from './tables/domains.ts';
import type { EventPositionRow, EventRow, WebhookDeliveryRow, WebhookRow } from './tables/events.ts';
import type {
  HostAuthorityRow,
  HostRow,
  OrphanedInstallRow,
  PlatformIdentityRow,
  WebsitesFolderRow,
} from './tables/hosts.ts';
import type { IdempotencyKeyRow } from './tables/idempotency-keys.ts';
import type { ImportKeyRow } from './tables/import-keys.ts';
import type {
  InstallCountRow,
  InstallRow,
  OffloadSettingsRow,
  SiteRow,
  SiteSizeRow,
  SiteTagRow,
  TagCountRow,
} from './tables/installs.ts';
import type {
  JobDeathRow,
  JobRow,
  OperationRow,
  ScheduleRunRow,
  SetAsideJobRow,
  WorkerRow,
} from './tables/jobs.ts';
import type { InstallLimitRow, RateWindowRow } from './tables/limits.ts';
import type { MoveRow } from './tables/moves.ts';
import type { NotificationPreferenceRow, NotificationRow } from './tables/notifications.ts';
import type { PlatformBackupRow } from './tables/platform-backups.ts';
import type { ProgramVersionRow } from './tables/program-version.ts';
import type { RebuildRow } from './tables/rebuilds.ts';
import type { RecoveryPointRow, RecoveryStateRow } from './tables/recovery-points.ts';
import type { ReleaseCheckRow } from './tables/release-check.ts';
import type { SeenSettingsRow } from './tables/seen-settings.ts';
import type {
  EmailChangeRow,
  KnownDeviceRow,
  PasskeyRow,
  PasswordLinkRow,
  RecoveryCodeRow,
  SecondFactorRow,
  SessionRow,
  SpentPasskeyChallengeRow,
} from './tables/signing-in.ts';
import type { SshPassRow } from './tables/ssh-passes.ts';
import type { SiteTransferRow } from './tables/transfers.ts';
import type { UptimeIncidentRow, UptimeSpanRow } from './tables/uptime.ts';
import type {
  AccountLimitRow,
  InstallQuotaRow,
  LimitWarningRow,
  UsageAccountDayRow,
  UsageCursorRow,
  UsageFormerInstallRow,
  UsageInstallRow,
  UsageMeasurementRow,
  UsageStorageRow,
  UsageTrafficRow,
} from './tables/usage.ts';
import type { CredentialRow, SshKeyRow, UserRow } from './tables/users.ts';
import type { WebsiteRulesRow } from './tables/website-rules.ts';
import type { WordPressReadingRow } from './tables/wordpress.ts';
import type {
  CoreRolloutRow,
  ReleaseFetchRow,
  WordPressUpdatePolicyRow,
  WordPressUpdateRow,
} from './tables/wordpress-updates.ts';
import type { WpCliRunRow } from './tables/wp-cli-runs.ts';

/**
 * The shape of the database, the same on SQLite and PostgreSQL (migrations/). Times are ISO 8601 UTC strings with
 * milliseconds, which sort as text. `seq` grows with every row of a table and orders lists.
 */
export interface Tables {
  accounts: AccountRow;
  users: UserRow;
  memberships: MembershipRow;
  install_grants: InstallGrantRow;
  invitations: InvitationRow;
  credentials: CredentialRow;
  second_factors: SecondFactorRow;
  passkeys: PasskeyRow;
  spent_passkey_challenges: SpentPasskeyChallengeRow;
  recovery_codes: RecoveryCodeRow;
  sessions: SessionRow;
  known_devices: KnownDeviceRow;
  password_links: PasswordLinkRow;
  email_changes: EmailChangeRow;
  activity: ActivityRow;
  sites: SiteRow;
  site_transfers: SiteTransferRow;
  installs: InstallRow;
  install_counts: InstallCountRow;
  site_sizes: SiteSizeRow;
  site_tags: SiteTagRow;
  tag_counts: TagCountRow;
  domains: DomainRow;
  primary_domains: PrimaryDomainRow;
  domain_proofs: DomainProofRow;
  released_names: ReleasedNameRow;
  certificates: CertificateRow;
  certificate_attempts: CertificateAttemptRow;
  acme_accounts: AcmeAccountRow;
  acme_validations: AcmeValidationRow;
  offload_settings: OffloadSettingsRow;
  website_rules: WebsiteRulesRow;
  import_keys: ImportKeyRow;
  backups: BackupRow;
  archives: ArchiveRow;
  restore_checks: RestoreCheckRow;
  recovery_points: RecoveryPointRow;
  recovery_states: RecoveryStateRow;
  deleted_installs: DeletedInstallRow;
  platform_backups: PlatformBackupRow;
  hosts: HostRow;
  host_authority: HostAuthorityRow;
  api_certificate: ApiCertificateRow;
  websites_folder: WebsitesFolderRow;
  program_version: ProgramVersionRow;
  release_check: ReleaseCheckRow;
  seen_settings: SeenSettingsRow;
  platform_identity: PlatformIdentityRow;
  orphaned_installs: OrphanedInstallRow;
  moves: MoveRow;
  rebuilds: RebuildRow;
  ssh_keys: SshKeyRow;
  ssh_passes: SshPassRow;
  domain_looks: DomainLookRow;
  domain_reports: DomainReportRow;
  install_limits: InstallLimitRow;
  rate_windows: RateWindowRow;
  idempotency_keys: IdempotencyKeyRow;
  jobs: JobRow;
  job_deaths: JobDeathRow;
  set_aside_jobs: SetAsideJobRow;
  operations: OperationRow;
  workers: WorkerRow;
  schedule_runs: ScheduleRunRow;
  changes: ChangeRow;
  uptime_spans: UptimeSpanRow;
  uptime_incidents: UptimeIncidentRow;
  usage_installs: UsageInstallRow;
  usage_former_installs: UsageFormerInstallRow;
  usage_measurements: UsageMeasurementRow;
  usage_traffic: UsageTrafficRow;
  usage_account_days: UsageAccountDayRow;
  usage_storage: UsageStorageRow;
  usage_cursors: UsageCursorRow;
  account_limits: AccountLimitRow;
  limit_warnings: LimitWarningRow;
  install_quotas: InstallQuotaRow;
  events: EventRow;
  event_positions: EventPositionRow;
  webhooks: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  notifications: NotificationRow;
  notification_preferences: NotificationPreferenceRow;
  wordpress_readings: WordPressReadingRow;
  wordpress_update_policies: WordPressUpdatePolicyRow;
  wordpress_updates: WordPressUpdateRow;
  core_rollouts: CoreRolloutRow;
  release_fetches: ReleaseFetchRow;
  wp_cli_runs: WpCliRunRow;
}
