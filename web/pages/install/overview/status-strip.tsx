import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useLastBackup } from '../../../api/backups.ts';
import { useHas } from '../../../api/capabilities.ts';
import { type Domain, useCertificate } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useInstallUsage } from '../../../api/usage.ts';
import { waitingUpdates } from '../../../api/waiting-updates.ts';
import { useWordPress } from '../../../api/wordpress.ts';
import { DomainName } from '../../../components/domain-name.tsx';
import type { Tone } from '../../../components/notice.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { visitsOn } from '../../../components/traffic-days.ts';
import { formatByteCount, formatCount, storedBytes } from '../../../components/usage-figures.ts';
import { useMay } from '../../../session/session.ts';
import { daysLeft } from '../domains/domain-labels.ts';
import styles from './overview.module.css';

const EVERY_MINUTE = 60_000;

/** The state of an install in short, each part with a link to its page. */
export function StatusStrip({
  install,
  domains,
}: {
  install: Install;
  domains: readonly Domain[] | undefined;
}) {
  const primary = domains?.find(({ name }) => name === install.primary_domain);
  return (
    <ul className={styles.strip} aria-label={`State of ${install.name}`}>
      <Tile install={install} section="domains" label="Primary domain">
        <Value>
          <DomainName name={install.primary_domain} />
        </Value>
        {domains !== undefined && domains.length > 1 && <Note>{domains.length} domains</Note>}
      </Tile>
      <CertificateTile install={install} domain={primary} />
      <BackupTile install={install} />
      {install.wp_version !== null && <WordPressTile install={install} version={install.wp_version} />}
      {install.php_version !== null && <PhpTile install={install} version={install.php_version} />}
      <UsageTiles install={install} />
    </ul>
  );
}

/** A part of the state. `section` is left out if the user has no such page. */
function Tile({
  install,
  section,
  label,
  children,
}: {
  install: Install;
  section?: string | undefined;
  label: string;
  children: ReactNode;
}) {
  const content = (
    <>
      <span className={styles.label}>{label}</span> {children}
    </>
  );
  return (
    <li>
      {section === undefined ? (
        <div className={styles.tile}>{content}</div>
      ) : (
        <Link href={`/installs/${install.id}/${section}`} className={styles.tile}>
          {content}
        </Link>
      )}
    </li>
  );
}

const Value = ({ children }: { children: ReactNode }) => <span className={styles.value}>{children}</span>;

function Note({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <>
      {' '}
      <span className={styles.note} data-tone={tone}>
        {children}
      </span>
    </>
  );
}

function CertificateTile({ install, domain }: { install: Install; domain: Domain | undefined }) {
  const now = useNow(EVERY_MINUTE);
  const { data } = useCertificate(install.id, domain?.id);
  return (
    <Tile install={install} section="certificates" label="Certificate">
      {data === undefined ? (
        <Value>…</Value>
      ) : data === null ? (
        <Value>None yet</Value>
      ) : (
        <>
          <Value>{daysLeft(data.certificate.expires_time, now).word}</Value>
          <Note tone={daysLeft(data.certificate.expires_time, now).tone}>
            {data.certificate.cert_source === 'SELF_SIGNED'
              ? 'Self-signed: browsers warn'
              : data.certificate.auto_renew
                ? 'Renewed automatically'
                : 'Not renewed automatically'}
          </Note>
        </>
      )}
    </Tile>
  );
}

function BackupTile({ install }: { install: Install }) {
  const { data: last } = useLastBackup(install.id);
  return (
    <Tile install={install} section="backups" label="Last backup">
      {last === undefined ? (
        <Value>…</Value>
      ) : last === null ? (
        <Value>None yet</Value>
      ) : (
        <>
          <Value>
            <Time at={last.finished_at ?? last.created_at} />
          </Value>
          {last.verified_at !== null && (
            <Note>
              Verified <Time at={last.verified_at} />
            </Note>
          )}
        </>
      )}
    </Tile>
  );
}

function WordPressTile(about: { install: Install; version: string }) {
  if (useHas(about.install.id)('wordpress_details')) return <CaredWordPressTile {...about} />;
  return (
    <Tile install={about.install} label="WordPress">
      <Value>{about.version}</Value>
    </Tile>
  );
}

function CaredWordPressTile({ install, version }: { install: Install; version: string }) {
  const { data } = useWordPress(install.id);
  const waiting =
    data === undefined || data.plugins === null || data.themes === null
      ? null
      : waitingUpdates({
          core: data.core,
          plugin_updates: data.plugins.filter(hasUpdate).length,
          theme_updates: data.themes.filter(hasUpdate).length,
        });
  return (
    <Tile install={install} section="wordpress" label="WordPress">
      <Value>{version}</Value>
      {waiting !== null && <Note tone="busy">Updates: {waiting}</Note>}
      {waiting === null && data?.updates_checked_at != null && <Note>Up to date</Note>}
    </Tile>
  );
}

const hasUpdate = ({ update }: { update: object | null }) => update !== null;

function PhpTile({ install, version }: { install: Install; version: string }) {
  const may = useMay(install.account.id);
  const hasSettings = may('install.change') || may('install.work');
  return (
    <Tile install={install} section={hasSettings ? 'settings' : undefined} label="PHP">
      <Value>{version}</Value>
    </Tile>
  );
}

function UsageTiles({ install }: { install: Install }) {
  const now = useNow(EVERY_MINUTE);
  const { data } = useInstallUsage(install.id);
  const stored =
    data &&
    storedBytes(
      data.metrics_rollup.storage_file_bytes.latest.value,
      data.metrics_rollup.storage_database_bytes.latest.value,
    );
  return (
    <>
      <Tile install={install} section="usage" label="Disk">
        <Value>
          {stored === undefined ? '…' : stored === null ? 'Not measured yet' : formatByteCount(stored)}
        </Value>
      </Tile>
      <Tile install={install} section="usage" label="Visits today">
        <Value>{data === undefined ? '…' : formatCount(visitsOn(data.metrics, now))}</Value>
      </Tile>
    </>
  );
}
