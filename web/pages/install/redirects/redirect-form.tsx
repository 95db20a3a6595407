import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Redirect } from '../../../api/rules.ts';
import { CheckboxField, SelectField, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';

type Match = Redirect['match'];

/** Kinds of matches of a redirect, for the list and the form. */
export const MATCHES: Record<Match, { short: string; label: string; from: string; to: string }> = {
  exact: {
    short: '',
    label: 'Only this address',
    from: 'Such as /old-page. A final / and the query do not matter.',
    to: 'Such as /new-page/ or https://example.com/.',
  },
  prefix: {
    short: 'and below',
    label: 'This address and everything below it',
    from: 'Such as /blog for /blog and /blog/2026/news.',
    to: 'Such as /news: the rest of the address is appended.',
  },
  regex: {
    short: 'regular expression',
    label: 'Regular expression',
    from: 'For the decoded path, such as ^/(\\d{4})/([^/]+)$. Groups cannot be repeated.',
    to: 'Such as /archive/$1/$2, with the groups of the expression.',
  },
};

const STATUSES = [
  { value: 301, label: '301: permanent' },
  { value: 302, label: '302: temporary' },
  { value: 307, label: '307: temporary, keeps the method' },
  { value: 308, label: '308: permanent, keeps the method' },
] as const;

/** Adds a redirect, or changes one. */
export function RedirectForm({
  installId,
  redirect,
  onDone,
}: {
  installId: string;
  redirect: Redirect | null;
  onDone(): void;
}) {
  const queries = useQueryClient();
  const [match, setMatch] = useState<Match>(redirect?.match ?? 'exact');

  async function save(values: FormData) {
    const status = STATUSES.find(({ value }) => String(value) === textOf(values, 'status'))?.value;
    const body = {
      match,
      from: textOf(values, 'from').trim(),
      to: textOf(values, 'to').trim(),
      keep_query: textOf(values, 'keep_query') === 'on',
      ...(status === undefined ? {} : { status }),
    };
    const path = { install_id: installId };
    if (redirect === null)
      await unwrap(hosting.POST('/installs/{install_id}/redirects', { params: { path }, body }));
    else {
      const params = { path: { ...path, redirect_id: redirect.id } };
      await unwrap(hosting.PATCH('/installs/{install_id}/redirects/{redirect_id}', { params, body }));
    }
    await queries.invalidateQueries({ queryKey: ['rules', installId, 'redirects'] });
    showSuccess(
      redirect === null ? `Added the redirect of ${body.from}.` : `Changed the redirect of ${body.from}.`,
    );
    onDone();
  }

  return (
    <Form submitLabel={redirect === null ? 'Add redirect' : 'Save'} onSubmit={save}>
      <SelectField
        label="Matches"
        name="match"
        value={match}
        onChange={({ currentTarget }) => {
          const { value } = currentTarget;
          if (value === 'exact' || value === 'prefix' || value === 'regex') setMatch(value);
        }}
        options={Object.entries(MATCHES).map(([value, { label }]) => ({ value, label }))}
      />
      <TextField
        label="From"
        name="from"
        required
        maxLength={1_024}
        defaultValue={redirect?.from}
        hint={MATCHES[match].from}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        label="To"
        name="to"
        required
        maxLength={2_048}
        defaultValue={redirect?.to}
        hint={MATCHES[match].to}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
      <SelectField
        label="Status"
        name="status"
        defaultValue={String(redirect?.status ?? 301)}
        options={STATUSES.map(({ value, label }) => ({ value: String(value), label }))}
        hint="Browsers remember permanent redirects. Try a temporary one first."
      />
      <CheckboxField
        label="Keep the query"
        name="keep_query"
        defaultChecked={redirect?.keep_query ?? true}
        hint="Appends the part after the ? to the new address."
      />
    </Form>
  );
}
