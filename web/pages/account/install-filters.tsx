import { useAttentionCount } from '../../api/overview.ts';
import { useSite } from '../../api/sites.ts';
import { ENVIRONMENTS, environmentLabel } from '../../components/environments.ts';
import { FilterChip, SearchField } from '../../components/filter.tsx';
import { STATUS_LABELS } from '../../components/install-states.ts';
import { SearchChip } from '../../components/search-chip.tsx';
import { TableTools } from '../../components/table.tsx';
import { ATTENTION, type InstallFilter, NONE } from './search.ts';
import { TagFilter } from './tag-filter.tsx';

const NO_SITE = { id: NONE, name: 'No site' };

/** Search and filters of the installs page. */
export function InstallFilters({
  accountId,
  search,
  onSearch,
  filter,
  onFilter,
}: {
  accountId: string;
  search: string;
  onSearch(text: string): void;
  filter: InstallFilter;
  onFilter(change: Partial<Record<keyof InstallFilter, string>>): void;
}) {
  const needing = useAttentionCount(accountId);
  const site = useSite(['', NONE].includes(filter.site) ? undefined : filter.site);
  const chosen =
    filter.site === ''
      ? null
      : filter.site === NONE
        ? NO_SITE
        : { id: filter.site, name: site.data?.name ?? (site.isError ? 'Deleted site' : 'Loading…') };
  const choice = (name: keyof InstallFilter) => ({
    name,
    value: filter[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onFilter({ [name]: currentTarget.value }),
  });
  return (
    <TableTools>
      <SearchField
        label="Search installs"
        hint="name or domain"
        name="search"
        value={search}
        onChange={(event) => onSearch(event.currentTarget.value)}
      />
      <FilterChip
        label="Status"
        {...choice('status')}
        options={[
          { value: '', label: 'Any' },
          { value: ATTENTION, label: `Needs attention${needing === undefined ? '' : ` (${needing})`}` },
          ...Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <FilterChip
        label="Environment"
        {...choice('environment')}
        options={[
          { value: '', label: 'Any' },
          ...ENVIRONMENTS.map((value) => ({ value, label: environmentLabel(value) })),
          { value: NONE, label: environmentLabel(null) },
        ]}
      />
      <SearchChip
        accountId={accountId}
        kind="site"
        label="Site"
        name="site"
        offered={NO_SITE}
        chosen={chosen}
        onChoose={(id) => onFilter({ site: id })}
      />
      <TagFilter accountId={accountId} value={filter.tags} onChange={(tags) => onFilter({ tags })} />
    </TableTools>
  );
}
