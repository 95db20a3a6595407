import { Link } from 'wouter';
import type { InstallOrder, ListedInstall } from '../../api/install-list.ts';
import { waitingUpdates } from '../../api/waiting-updates.ts';
import { displayName } from '../../components/display-name.ts';
import { DomainName } from '../../components/domain-name.tsx';
import { environmentLabel } from '../../components/environments.ts';
import { InstallStatus } from '../../components/install-status.tsx';
import { type Column, RowMenu } from '../../components/table.tsx';
import { Tags } from '../../components/tags.tsx';
import { Time } from '../../components/time.tsx';
import styles from './account.module.css';
import { Reasons } from './attention.tsx';
import { MatchedDomain } from './matched-domain.tsx';

const SORTS = ['name', 'domain', 'status', 'environment', 'site', 'php', 'updates', 'created'] as const;

/** Parses the sort order in the query string. An invalid one sorts by name. */
export function installOrderOf(asked: string): InstallOrder {
  const column = SORTS.find((sort) => sort === asked.replace(/^-/, '')) ?? 'name';
  return asked === `-${column}` ? `-${column}` : column;
}

/** The columns of the list of installs. Those without content for these rows are left out. */
export function installColumns(
  rows: readonly ListedInstall[],
  withReasons: boolean,
): Column<ListedInstall>[] {
  const columns = [
    NAME,
    DOMAIN,
    STATUS,
    // The status says that an install needs attention. The reasons need room of their own.
    withReasons && REASONS,
    ENVIRONMENT,
    !withReasons && SITE,
    !withReasons && rows.some(({ tags }) => tags.length > 0) && TAGS,
    !withReasons && rows.some(({ php_version }) => php_version !== null) && PHP,
    !withReasons && rows.some((row) => updatesOf(row) !== null) && UPDATES,
    !withReasons && CREATED,
    ACTIONS,
  ];
  return columns.filter((column) => column !== false);
}

const NAME: Column<ListedInstall> = {
  id: 'name',
  header: 'Install',
  rowHeader: true,
  sortBy: 'server',
  line: { share: 24, text: ({ name }) => name },
  cell: ({ id, name }) => <Link href={`/installs/${id}`}>{name}</Link>,
};

const DOMAIN: Column<ListedInstall> = {
  id: 'domain',
  header: 'Domain',
  sortBy: 'server',
  line: {
    share: 30,
    text: ({ primary_domain, matched_domain }) =>
      [primary_domain, ...(matched_domain === null ? [] : [matched_domain])].map(displayName).join(', '),
  },
  cell: ({ primary_domain, matched_domain }) => (
    <>
      <DomainName name={primary_domain} /> <MatchedDomain name={matched_domain} />
    </>
  ),
};

const STATUS: Column<ListedInstall> = {
  id: 'status',
  header: 'Status',
  sortBy: 'server',
  cell: ({ status, reasons }) => <InstallStatus status={status} needsAttention={reasons.length > 0} />,
};

const REASONS: Column<ListedInstall> = {
  id: 'attention',
  header: 'Needs attention',
  cell: ({ id, reasons }) => (reasons.length === 0 ? null : <Reasons installId={id} reasons={reasons} />),
};

const ENVIRONMENT: Column<ListedInstall> = {
  id: 'environment',
  header: 'Environment',
  sortBy: 'server',
  cell: ({ environment }) =>
    environment === null ? <span className={styles.soft}>None</span> : environmentLabel(environment),
};

const SITE: Column<ListedInstall> = {
  id: 'site',
  header: 'Site',
  optional: true,
  sortBy: 'server',
  line: { share: 18, text: ({ site_name }) => site_name ?? 'None' },
  cell: ({ site_id, site_name }) =>
    site_id === null ? (
      <span className={styles.soft}>None</span>
    ) : (
      <Link className={styles.quiet} href={`/sites/${site_id}`}>
        {site_name}
      </Link>
    ),
};

const TAGS: Column<ListedInstall> = {
  id: 'tags',
  header: 'Tags',
  optional: true,
  line: { share: 20, text: ({ tags }) => tags.join(', ') },
  cell: ({ tags }) => <Tags tags={tags} most={1} />,
};

const PHP: Column<ListedInstall> = {
  id: 'php',
  header: 'PHP',
  optional: true,
  sortBy: 'server',
  cell: ({ php_version }) => php_version ?? <span className={styles.soft}>None</span>,
};

/** The updates that wait, in words; null without any. */
const updatesOf = ({ core_update, plugin_updates, theme_updates }: ListedInstall) =>
  waitingUpdates({
    core: core_update === null ? null : { available_update: { version: core_update } },
    plugin_updates,
    theme_updates,
  });

const UPDATES: Column<ListedInstall> = {
  id: 'updates',
  header: 'Updates',
  optional: true,
  sortBy: 'server',
  cell: (row) => {
    const waiting = updatesOf(row);
    if (waiting === null) return null;
    const count = row.plugin_updates + row.theme_updates + (row.core_update === null ? 0 : 1);
    const counted = count === 1 ? '1 update' : `${count} updates`;
    return (
      <Link
        className={`${styles.quiet} ${styles.whole}`}
        href={`/installs/${row.id}/wordpress`}
        title={waiting}
        aria-label={`${counted}: ${waiting}`}
      >
        {counted}
      </Link>
    );
  },
};

const CREATED: Column<ListedInstall> = {
  id: 'created',
  header: 'Created',
  optional: true,
  sortBy: 'server',
  cell: ({ created_at }) => (
    <span className={styles.whole}>
      <Time at={created_at} />
    </span>
  ),
};

const ACTIONS: Column<ListedInstall> = {
  id: 'actions',
  header: 'Actions',
  cell: (install) => install.status === 'active' && <InstallMenu install={install} />,
};

function InstallMenu({ install: { id, name, php_version } }: { install: ListedInstall }) {
  return (
    <RowMenu
      name={name}
      entries={[
        { label: 'Domains', href: `/installs/${id}/domains` },
        ...(php_version === null ? [] : [{ label: 'WordPress', href: `/installs/${id}/wordpress` }]),
        { label: 'Backups', href: `/installs/${id}/backups` },
        { label: 'Access', href: `/installs/${id}/connect` },
        { label: 'Settings', href: `/installs/${id}/settings` },
      ]}
    />
  );
}
