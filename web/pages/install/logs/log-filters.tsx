import { useEffect } from 'react';
import type { LogKind } from '../../../api/logs.ts';
import { useDebounced } from '../../../components/debounced.ts';
import { SelectField, TextField } from '../../../components/fields.tsx';
import { FieldErrors } from '../../../components/form.tsx';
import { useEditableText } from '../../../components/query-parameters.ts';
import { FieldPair, TableTools } from '../../../components/table.tsx';
import { filterErrors, KIND_LABELS, type LogFilter, STATUS_LABELS } from './log-filter.ts';

const options = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The choice of the log, and its filters. */
export function LogFilters({
  kinds,
  filter,
  onFilter,
}: {
  /** Those to choose from. */
  kinds: readonly LogKind[];
  filter: LogFilter;
  onFilter(change: Partial<Record<keyof LogFilter, string>>): void;
}) {
  const field = (name: keyof LogFilter) => ({
    name,
    value: filter[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onFilter({ [name]: currentTarget.value }),
  });
  return (
    <TableTools>
      {kinds.length > 1 && (
        <SelectField
          label="Log"
          {...field('kind')}
          options={kinds.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))}
        />
      )}
      <SearchField search={filter.search} onSearch={(search) => onFilter({ search })} />
      {filter.kind === 'access' && (
        <SelectField
          label="Status"
          {...field('status')}
          options={[{ value: '', label: 'Any status' }, ...options(STATUS_LABELS)]}
        />
      )}
      <FieldErrors.Provider value={filterErrors(filter)}>
        <FieldPair>
          <TextField type="datetime-local" label="From" max={filter.to || undefined} {...field('from')} />
          <TextField type="datetime-local" label="To" min={filter.from || undefined} {...field('to')} />
        </FieldPair>
      </FieldErrors.Provider>
    </TableTools>
  );
}

/** Searches once typing pauses: each search reads the log on the host. */
function SearchField({ search, onSearch }: { search: string; onSearch(search: string): void }) {
  const [typed, type] = useEditableText(search, () => {});
  const wanted = useDebounced(typed);
  useEffect(() => {
    if (wanted !== search && wanted === typed) onSearch(wanted);
  });
  return (
    <TextField
      type="search"
      label="Search"
      name="search"
      maxLength={200}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
