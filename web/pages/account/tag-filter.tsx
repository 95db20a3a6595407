import { useState } from 'react';
import { useTags } from '../../api/tags.ts';
import { Button } from '../../components/button.tsx';
import { FilterChip } from '../../components/filter.tsx';
import { keyOf } from '../../components/tag-names.ts';
import { ManageTagsDialog } from '../tags/tag-dialogs.tsx';

/** Filters a list by a tag. The address can ask for several at once. Accounts without tags have no filter. */
export function TagFilter({
  accountId,
  value,
  onChange,
}: {
  accountId: string;
  /** Tags separated by commas. */
  value: string;
  onChange(tags: string): void;
}) {
  const { data: tags = [] } = useTags(accountId);
  if (tags.length === 0 && value === '') return null;
  const known = tags.find(({ name }) => keyOf(name) === keyOf(value));
  return (
    <FilterChip
      label="Tag"
      name="tags"
      value={known?.name ?? value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      options={[
        { value: '', label: 'Any' },
        ...(known === undefined && value !== '' ? [{ value, label: value.split(',').join(' and ') }] : []),
        ...tags.map(({ name }) => ({ value: name, label: name })),
      ]}
    />
  );
}

/** Opens the list of an account's tags. */
export function ManageTags({ accountId }: { accountId: string }) {
  const [open, setOpen] = useState(false);
  const { data: tags = [] } = useTags(accountId);
  if (tags.length === 0 && !open) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Manage tags</Button>
      <ManageTagsDialog accountId={accountId} open={open} onOpenChange={setOpen} />
    </>
  );
}
