import type { Site } from '../../api/sites.ts';
import { ENVIRONMENTS, environmentLabel } from '../../components/environments.ts';
import { FilterChip, SearchField } from '../../components/filter.tsx';
import { STATUS_LABELS } from '../../components/install-status.tsx';
import { sortRows } from '../../components/sort-rows.ts';
import { TableTools } from '../../components/table.tsx';
import { ATTENTION, type InstallFilter, NONE } from './search.ts';

/** Search and filters of the installs page. */
export function InstallFilters({
  search,
  onSearch,
  filter,
  onFilter,
  sites,
  needing,
}: {
  search: string;
  onSearch(text: string): void;
  filter: InstallFilter;
  onFilter(change: Partial<Record<keyof InstallFilter, string>>): void;
  /** Undefined until loaded. */
  sites: readonly Site[] | undefined;
  /** Number of installs that need attention; undefined until loaded. */
  needing: number | undefined;
}) {
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
      <FilterChip
        label="Site"
        {...choice('site')}
        options={[
          { value: '', label: 'Any' },
          { value: NONE, label: 'No site' },
          ...optionsOf(sites, filter.site),
        ]}
      />
    </TableTools>
  );
}

/** Returns the sites as options. The selected site always has one, even if it is deleted or still loading. */
function optionsOf(sites: readonly Site[] | undefined, asked: string) {
  const options = sortRows(sites ?? [], ({ name }) => name, 'ascending').map(({ id, name }) => ({
    value: id,
    label: name,
  }));
  if (['', NONE].includes(asked) || options.some(({ value }) => value === asked)) return options;
  return [{ value: asked, label: sites === undefined ? 'Loading…' : 'Deleted site' }, ...options];
}
