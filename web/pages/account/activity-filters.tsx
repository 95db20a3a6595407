import { useActivityPeople } from '../../api/activity.ts';
import { useInstall } from '../../api/installs.ts';
import { DateChip, FilterChip } from '../../components/filter.tsx';
import { FieldErrors } from '../../components/form.tsx';
import { SearchChip } from '../../components/search-chip.tsx';
import { TableTools } from '../../components/table.tsx';
import { type ActivityFilter, filterErrors, KIND_LABELS } from './activity-filter.ts';

type Option = { value: string; label: string };

/** The filters of the activity. `people` tells whether it may contain several people. */
export function ActivityFilters({
  accountId,
  filter,
  onFilter,
  lastName,
  people,
}: {
  accountId: string;
  filter: ActivityFilter;
  onFilter(change: Partial<Record<keyof ActivityFilter, string>>): void;
  /** Name of the selected install in the activity, in case that it was deleted. */
  lastName: string | null | undefined;
  people: boolean;
}) {
  const field = (name: keyof ActivityFilter) => ({
    name,
    value: filter[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onFilter({ [name]: currentTarget.value }),
  });
  return (
    <TableTools>
      {people && <PersonField accountId={accountId} chosen={filter.person} {...field('person')} />}
      <InstallField
        accountId={accountId}
        chosen={filter.install}
        lastName={lastName}
        onChoose={(install) => onFilter({ install })}
      />
      <FilterChip
        label="Type"
        {...field('kind')}
        options={[
          { value: '', label: 'Any' },
          ...Object.entries(KIND_LABELS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <FieldErrors.Provider value={filterErrors(filter)}>
        <DateChip label="From" max={filter.to || undefined} {...field('from')} />
        <DateChip label="To" min={filter.from || undefined} {...field('to')} />
      </FieldErrors.Provider>
    </TableTools>
  );
}

/** The install filter. A deleted install is named as in its entries. */
function InstallField({
  accountId,
  chosen,
  lastName,
  onChoose,
}: {
  accountId: string;
  chosen: string;
  lastName: string | null | undefined;
  onChoose(id: string): void;
}) {
  const { data: install, isError } = useInstall(chosen === '' ? undefined : chosen);
  const deleted = lastName ? `${lastName} (deleted)` : 'Deleted install';
  const name = install?.name ?? (isError ? deleted : (lastName ?? 'Loading…'));
  return (
    <SearchChip
      accountId={accountId}
      kind="install"
      label="Install"
      name="install"
      chosen={chosen === '' ? null : { id: chosen, name }}
      onChoose={onChoose}
    />
  );
}

function PersonField({
  accountId,
  chosen,
  ...field
}: {
  accountId: string;
  chosen: string;
  name: string;
  value: string;
  onChange(event: { currentTarget: { value: string } }): void;
}) {
  const { data: people = [] } = useActivityPeople(accountId);
  const options = people.map(({ user_id, user_name }) => ({ value: user_id, label: user_name }));
  return (
    <FilterChip
      label="Person"
      {...field}
      options={withChosen(chosen, 'Anyone', 'Person without changes', options)}
    />
  );
}

/**
 * Returns the options after the one for all. The selected value always has an option, even if it is deleted or still
 * loading.
 */
function withChosen(chosen: string, all: string, unknown: string, options: readonly Option[]): Option[] {
  const known = chosen === '' || options.some(({ value }) => value === chosen);
  return [{ value: '', label: all }, ...(known ? [] : [{ value: chosen, label: unknown }]), ...options];
}
