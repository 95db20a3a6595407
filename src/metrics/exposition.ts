import type { BackupAges } from '../features/backups/backup-ages-store.ts';
import type { RecoveryAges } from '../features/backups/recovery-points/ages-store.ts';
import type { FleetCertificates } from '../features/domains/certificates/fleet-certificates-store.ts';
import type { HostFigures } from '../hosting/contract/figures.ts';
import { JOB_CLASSES } from '../jobs/slots.ts';
import type { SocketLimiters } from '../network/connections/socket-limiters.ts';
import { SERVERS } from '../network/connections/socket-limits.ts';
import type { Figures } from './figures.ts';
import { createHostExposition } from './host-exposition.ts';
import type { Measurements } from './measurements.ts';

const SOURCES = ['LETS_ENCRYPT', 'THIRD_PARTY', 'SELF_SIGNED'];
const STATES = ['queued', 'running', 'failed'];

/** Figures of the database and of the hosts. */
export interface ShownFigures extends Figures, FleetCertificates {
  /** Null if installs are not backed up daily. */
  backups: BackupAges | null;
  /** By host; empty if no recovery points are made. */
  recovery: readonly RecoveryAges[];
  /** Of the hosts that answer, by their ids or `embedded`; empty in processes that ask no hosts. */
  measured: ReadonlyMap<string, HostFigures>;
}

/** Renders figures in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  text(figures: ShownFigures): Promise<string>;
}

/** Adds figures of the database and of the connections to what this process measures. */
export async function createExposition(
  { registry }: Pick<Measurements, 'registry'>,
  connections: SocketLimiters,
): Promise<Exposition> {
  const { Counter, Gauge } = await import('prom-client');
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });

  const certificates = gauge('homeport_certificates', 'Certificates of domains, by source', ['source']);
  const expiring = gauge(
    'homeport_certificates_expiring',
    'Certificates from the authority that expire within the days of the label although their renewal is due, including expired ones',
    ['within_days'],
  );
  const nextExpiry = gauge(
    'homeport_certificate_next_expiry_timestamp_seconds',
    'Earliest expiry of a certificate, by source; 0 without one',
    ['source'],
  );
  const failing = gauge(
    'homeport_certificates_failing',
    'Domains whose last try to get a certificate failed',
  );
  const withoutBackup = gauge(
    'homeport_installs_without_recent_backup',
    'Active installs, older than 26 hours, without a complete backup of the last 26 hours. Left out without daily backups',
  );
  const oldestBackup = gauge(
    'homeport_backup_oldest_timestamp_seconds',
    'Request of the newest backup of an active install, for the install with the oldest one; 0 without backups. Left out without daily backups',
  );
  const lateRecovery = gauge(
    'homeport_recovery_points_late',
    'Active installs of a host that no recovery point covers for twice the time between two. Left out without recovery points',
    ['host'],
  );
  const oldestRecovery = gauge(
    'homeport_recovery_point_oldest_timestamp_seconds',
    'Time up to which the changes of an active install of a host are saved, for the install with the oldest one. Left out without recovery points',
    ['host'],
  );
  const unrestorable = gauge(
    'homeport_restore_checks_failing',
    'Installs whose last backup that was restored on trial could not be restored',
  );
  const lastCheck = gauge(
    'homeport_restore_check_last_timestamp_seconds',
    'When a backup was last restored on trial; 0 if none was',
  );
  const lastCheckTook = gauge(
    'homeport_restore_check_last_duration_seconds',
    'How long that took; 0 if none was',
  );
  const platformBackup = gauge(
    'homeport_platform_backup_last_success_timestamp_seconds',
    'Completion time of the last platform backup; 0 without one',
  );
  const platformBackupBytes = gauge(
    'homeport_platform_backup_last_success_bytes',
    'Size of the last complete platform backup; 0 without one',
  );
  const platformBackupFailures = gauge(
    'homeport_platform_backup_failures',
    'Backups of the platform that failed since the last complete one',
  );
  const jobs = gauge(
    'homeport_jobs',
    'Jobs, by class (short or long) and state. Those that are queued are due',
    ['class', 'state'],
  );
  const installs = gauge('homeport_installs', 'Installs, by status', ['status']);
  const outdated = gauge(
    'homeport_installs_with_updates',
    'Active installs with updates of WordPress, plugins or themes',
  );
  const failedUpdates = gauge(
    'homeport_wordpress_updates_failed',
    'Updates of WordPress, plugins and themes that were requested within a day and failed or were rolled back',
  );
  const incidents = gauge('homeport_incidents_open', 'Websites that do not answer at present');
  const hosts = gauge(
    'homeport_host_up',
    'Whether a host answers (1) or not (0), once it has answered for the first time',
    ['host'],
  );
  const seen = gauge('homeport_host_seen_timestamp_seconds', 'When a host last answered; 0 if it never did', [
    'host',
  ]);
  const showHosts = await createHostExposition(registry);
  const open = gauge('homeport_connections', 'Open connections of this process, by server', ['server']);
  const most = gauge('homeport_connections_limit', 'Most connections of this process, by server', ['server']);
  const refused = new Counter({
    name: 'homeport_connections_refused_total',
    help: 'Connections closed for lack of room since this process started, by server',
    labelNames: ['server'],
    registers: [registry],
  });

  function showBackups(ages: BackupAges | null): void {
    withoutBackup.remove();
    oldestBackup.remove();
    if (ages === null) return;
    withoutBackup.set(ages.without);
    oldestBackup.set(ages.oldest === null ? 0 : Date.parse(ages.oldest) / 1000);
  }

  return {
    contentType: registry.contentType,
    text(figures) {
      const count = (of: { count: number } | undefined) => of?.count ?? 0;
      for (const source of SOURCES) {
        certificates.set({ source }, count(figures.certificates.find((one) => one.source === source)));
      }
      for (const { days, count: number } of figures.expiring) {
        expiring.set({ within_days: String(days) }, number);
      }
      for (const source of ['LETS_ENCRYPT', 'THIRD_PARTY'] as const) {
        nextExpiry.set({ source }, (figures.nextExpiry[source]?.getTime() ?? 0) / 1000);
      }
      failing.set(figures.failing);
      showBackups(figures.backups);
      lateRecovery.reset();
      oldestRecovery.reset();
      for (const { host, late, oldest } of figures.recovery) {
        lateRecovery.set({ host }, late);
        oldestRecovery.set({ host }, Date.parse(oldest) / 1000);
      }
      unrestorable.set(figures.unrestorable);
      lastCheck.set((figures.lastRestoreCheck?.at.getTime() ?? 0) / 1000);
      lastCheckTook.set((figures.lastRestoreCheck?.tookMs ?? 0) / 1000);
      platformBackup.set((figures.platformBackup.last?.at.getTime() ?? 0) / 1000);
      platformBackupBytes.set(figures.platformBackup.last?.bytes ?? 0);
      platformBackupFailures.set(figures.platformBackup.failures);
      installs.reset();
      for (const { status, installs: number } of figures.installs) installs.set({ status }, number);
      outdated.set(figures.outdated);
      failedUpdates.set(figures.failedUpdates);
      incidents.set(figures.incidents);
      // A removed host must not stay.
      hosts.reset();
      seen.reset();
      for (const { name: host, isUp, seen: at } of figures.hosts) {
        // One that was added and never answered has no websites yet, and would wake the operator while it is set up.
        if (at !== null) hosts.set({ host }, isUp ? 1 : 0);
        seen.set({ host }, (at?.getTime() ?? 0) / 1000);
      }
      showHosts(figures.measured, figures.hosts);
      refused.reset();
      for (const server of SERVERS) {
        const { counts, limits } = connections[server];
        open.set({ server }, counts.open);
        most.set({ server }, limits.total);
        refused.inc({ server }, counts.refused);
      }
      for (const state of STATES) {
        for (const jobClass of JOB_CLASSES) {
          const found = figures.jobs.find((one) => one.class === jobClass && one.state === state);
          jobs.set({ class: jobClass, state }, count(found));
        }
      }
      return registry.metrics();
    },
  };
}
