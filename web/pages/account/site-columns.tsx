import { Link } from 'wouter';
import type { ListedSite, SiteOrder } from '../../api/site-list.ts';
import { byEnvironment, environmentLabel } from '../../components/environments.ts';
import { InstallStatus } from '../../components/install-status.tsx';
import { type Column, RowMenu } from '../../components/table.tsx';
import { Tags } from '../../components/tags.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import type { SiteAction } from '../site/site-dialogs.tsx';
import styles from './account.module.css';
import { MatchedDomain } from './matched-domain.tsx';

const SORTS = ['name', 'installs', 'created'] as const;

/** Parses the sort order in the query string. An invalid one sorts by name. */
export function siteOrderOf(asked: string): SiteOrder {
  const column = SORTS.find((sort) => sort === asked.replace(/^-/, '')) ?? 'name';
  return asked === `-${column}` ? `-${column}` : column;
}

/** The columns of the list of sites. That of tags is left out if none of these sites has any. */
export function siteColumns(
  rows: readonly ListedSite[],
  { accountId, onAsk }: { accountId: string; onAsk(action: SiteAction, site: ListedSite): void },
): Column<ListedSite>[] {
  const actions: Column<ListedSite> = {
    id: 'actions',
    header: 'Actions',
    cell: (site) => <SiteMenu accountId={accountId} site={site} onSelect={(action) => onAsk(action, site)} />,
  };
  return [...COLUMNS.filter(({ id }) => id !== 'tags' || rows.some(({ tags }) => tags.length > 0)), actions];
}

const environmentsOf = ({ installs }: ListedSite): string =>
  byEnvironment(installs)
    .map(({ name, environment }) => `${name} (${environmentLabel(environment)})`)
    .join(', ');

const COLUMNS: readonly Column<ListedSite>[] = [
  {
    id: 'name',
    header: 'Site',
    rowHeader: true,
    sortBy: 'server',
    line: { share: 28, text: ({ name }) => name },
    cell: ({ id, name }) => <Link href={`/sites/${id}`}>{name}</Link>,
  },
  {
    id: 'environments',
    header: 'Environments',
    line: { share: 50, text: environmentsOf },
    cell: (site) => <Environments installs={site.installs} />,
  },
  {
    id: 'tags',
    header: 'Tags',
    line: { share: 22, text: ({ tags }) => tags.join(', ') },
    cell: ({ tags }) => <Tags tags={tags} />,
  },
  {
    id: 'installs',
    header: 'Installs',
    optional: true,
    sortBy: 'server',
    cell: (site) => site.installs.length,
  },
  {
    id: 'created',
    header: 'Created',
    optional: true,
    sortBy: 'server',
    cell: ({ created_at }) => (
      <span className={styles.whole}>
        <Time at={created_at} />
      </span>
    ),
  },
];

function Environments({ installs }: Pick<ListedSite, 'installs'>) {
  if (installs.length === 0) return <span className={styles.soft}>None yet</span>;
  return (
    <ul className={styles.environments}>
      {byEnvironment(installs).map(({ id, name, environment, status, needs_attention, matched_domain }) => (
        <li key={id}>
          <Link className={styles.quiet} href={`/installs/${id}`}>
            {name}
          </Link>
          <span className={styles.soft}>{environmentLabel(environment)}</span>
          {(status !== 'active' || needs_attention) && (
            <InstallStatus status={status} needsAttention={needs_attention} />
          )}
          <MatchedDomain name={matched_domain} />
        </li>
      ))}
    </ul>
  );
}

function SiteMenu({
  accountId,
  site: { id, name },
  onSelect,
}: {
  accountId: string;
  site: ListedSite;
  onSelect(action: SiteAction): void;
}) {
  const may = useMay(accountId);
  const act = (label: string, action: SiteAction) => ({ label, onSelect: () => onSelect(action) });
  return (
    <RowMenu
      name={name}
      entries={[
        { label: 'Installs', href: `/accounts/${accountId}/installs?site=${id}` },
        ...(may('site.change') ? [act('Rename', 'rename'), act('Edit tags', 'tags')] : []),
        ...(may('site.change') && may('site.transfer') ? [act('Transfer', 'transfer')] : []),
        ...(may('site.change') ? [act('Delete', 'delete')] : []),
      ]}
    />
  );
}
