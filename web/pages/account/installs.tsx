import { useDeferredValue, useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { type Install, useInstalls } from '../../api/installs.ts';
import { type Site, useSites } from '../../api/sites.ts';
import { arranged } from '../../components/arranged.ts';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { InstallStatus, STATUS_WORDS } from '../../components/install-status.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table, TableTools } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import { CreateInstallDialog } from '../site/create-install.tsx';
import { ENVIRONMENTS, environmentRank, environmentWord } from '../site/environments.ts';
import styles from './account.module.css';
import { filterInstalls, type InstallFilter, NONE } from './search.ts';
import { ShownCount } from './shown-count.tsx';

const NO_SITES: readonly Site[] = [];

/** All installs of an account, and the way to a new one. */
export function InstallsPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const installs = useInstalls(accountId);
  const { data: sites = NO_SITES } = useSites(accountId);
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Installs"
      subtitle="An install is one website: its files, its database and its domains."
      actions={
        may('install.change') && (
          <Button variant="primary" onClick={() => setCreating(true)}>
            Create an install
          </Button>
        )
      }
    >
      <Loaded query={installs} what="installs">
        {(all) =>
          all.length === 0 ? (
            <Empty>
              {may('install.change') ? (
                <p>
                  There is no install yet. Create one: it has an address at once, and is served within a
                  minute.
                </p>
              ) : (
                <p>No install is given to you yet. An owner of the account can give you some.</p>
              )}
            </Empty>
          ) : (
            <InstallTable installs={all} sites={sites} />
          )
        }
      </Loaded>
      <CreateInstallDialog accountId={accountId} sites={sites} open={creating} onOpenChange={setCreating} />
    </Page>
  );
}

function InstallTable({ installs, sites }: { installs: readonly Install[]; sites: readonly Site[] }) {
  const [filter, setFilter] = useFilter();
  const wanted = useDeferredValue(filter);
  const found = useMemo(() => filterInstalls(installs, wanted), [installs, wanted]);
  const columns = useMemo(() => {
    const runsPhp = installs.some(({ php_version }) => php_version !== null);
    return columnsOf(sites).filter(({ id }) => id !== 'php' || runsPhp);
  }, [sites, installs]);
  return (
    <>
      <Filters filter={filter} onChange={setFilter} sites={sites} />
      <ShownCount shown={found.length} total={installs.length} thing="install" />
      <Table
        caption="Installs"
        columns={columns}
        rows={found}
        rowKey={({ id }) => id}
        initialSort={{ column: 'name', direction: 'ascending' }}
      />
    </>
  );
}

/** What is wanted of the list; which site it is about stands in the address, so that other pages can lead to it. */
function useFilter() {
  const [address, setAddress] = useSearchParams();
  const [own, setOwn] = useState({ search: '', status: '', environment: '' });
  const site = address.get('site') ?? '';
  const filter = useMemo(() => ({ ...own, site }), [own, site]);
  const change = ({ site: wanted, ...others }: InstallFilter) => {
    setOwn(others);
    if (wanted !== site) setAddress(wanted === '' ? {} : { site: wanted }, { replace: true });
  };
  return [filter, change] as const;
}

function Filters({
  filter,
  onChange,
  sites,
}: {
  filter: InstallFilter;
  onChange(filter: InstallFilter): void;
  sites: readonly Site[];
}) {
  const set = (part: keyof InstallFilter) => ({
    value: filter[part],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...filter, [part]: currentTarget.value }),
  });
  return (
    <TableTools>
      <TextField type="search" label="Search installs" name="search" {...set('search')} />
      <SelectField
        label="Status"
        name="status"
        {...set('status')}
        options={[
          { value: '', label: 'Any status' },
          ...Object.entries(STATUS_WORDS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <SelectField
        label="Environment"
        name="environment"
        {...set('environment')}
        options={[
          { value: '', label: 'Any environment' },
          ...ENVIRONMENTS.map((value) => ({ value, label: environmentWord(value) })),
          { value: NONE, label: environmentWord(null) },
        ]}
      />
      <SelectField
        label="Site"
        name="site"
        {...set('site')}
        options={[
          { value: '', label: 'Any site' },
          { value: NONE, label: 'In no site' },
          ...arranged(sites, ({ name }) => name, 'ascending').map(({ id, name }) => ({
            value: id,
            label: name,
          })),
        ]}
      />
    </TableTools>
  );
}

function columnsOf(sites: readonly Site[]): Column<Install>[] {
  const names = new Map(sites.map(({ id, name }) => [id, name]));
  const nameOfSite = ({ site }: Install) => (site === null ? undefined : names.get(site.id));
  return [
    {
      id: 'name',
      header: 'Install',
      rowHeader: true,
      sortBy: ({ name }) => name,
      cell: ({ id, name, primary_domain }) => (
        <span className={styles.named}>
          <strong>
            <Link href={`/installs/${id}`}>{name}</Link>
          </strong>
          <span className={styles.soft}>{primary_domain}</span>
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      sortBy: ({ status }) => STATUS_WORDS[status],
      cell: ({ status }) => <InstallStatus status={status} />,
    },
    {
      id: 'environment',
      header: 'Environment',
      sortBy: ({ environment }) => environmentRank(environment),
      cell: ({ environment }) =>
        environment === null ? <span className={styles.soft}>None</span> : environmentWord(environment),
    },
    {
      id: 'site',
      header: 'Site',
      sortBy: (install) => nameOfSite(install) ?? '',
      cell: (install) => {
        const name = nameOfSite(install);
        if (install.site === null || name === undefined) return <span className={styles.soft}>None</span>;
        return <Link href={`/sites/${install.site.id}`}>{name}</Link>;
      },
    },
    {
      id: 'php',
      header: 'PHP',
      sortBy: ({ php_version }) => php_version ?? '',
      cell: ({ php_version }) => php_version ?? <span className={styles.soft}>None</span>,
    },
    {
      id: 'created',
      header: 'Created',
      sortBy: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}
