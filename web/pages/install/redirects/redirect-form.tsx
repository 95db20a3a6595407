import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Redirect } from '../../../api/rules.ts';
import { CheckboxField, SelectField, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';

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

const MATCH_OPTIONS = (['exact', 'prefix', 'regex'] as const).map((value) => ({
  value,
  label: MATCHES[value].label,
}));

const STATUSES = [
  { value: 301, label: '301: permanent' },
  { value: 302, label: '302: temporary' },
  { value: 307, label: '307: temporary, keeps the method' },
  { value: 308, label: '308: permanent, keeps the method' },
] as const;

const fieldsOf = ({ match, from, to, status, keep_query }: NewRedirect) => ({
  match,
  from,
  to,
  status: String(status),
  keep_query,
});

type NewRedirect = Pick<Redirect, 'match' | 'from' | 'to' | 'status' | 'keep_query'>;
const EMPTY: NewRedirect = { match: 'exact', from: '', to: '', status: 301, keep_query: true };

const bodyOf = ({
  status,
  from,
  to,
  ...rest
}: Partial<ReturnType<typeof fieldsOf>>): Partial<NewRedirect> => {
  const code = STATUSES.find(({ value }) => String(value) === status)?.value;
  return {
    ...rest,
    ...(from === undefined ? {} : { from: from.trim() }),
    ...(to === undefined ? {} : { to: to.trim() }),
    ...(code === undefined ? {} : { status: code }),
  };
};

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
  const path = { install_id: installId };
  const draft = useDraft<NewRedirect, ReturnType<typeof fieldsOf>>({
    resource: redirect ?? EMPTY,
    fieldsOf,
    read:
      redirect &&
      (() =>
        hosting.GET('/installs/{install_id}/redirects/{redirect_id}', {
          params: { path: { ...path, redirect_id: redirect.id } },
        })),
    async save(edited, header, values) {
      const body = { ...bodyOf(values), from: values.from.trim(), to: values.to.trim() };
      if (redirect === null)
        await unwrap(hosting.POST('/installs/{install_id}/redirects', { params: { path }, body }));
      else {
        const params = { path: { ...path, redirect_id: redirect.id }, header };
        await unwrap(
          hosting.PATCH('/installs/{install_id}/redirects/{redirect_id}', { params, body: bodyOf(edited) }),
        );
      }
      await queries.invalidateQueries({ queryKey: ['rules', installId, 'redirects'] });
      showSuccess(`${redirect === null ? 'Added' : 'Changed'} the redirect of ${body.from}.`);
      onDone();
    },
  });
  const { match } = draft.values;

  return (
    <Form
      draft={draft}
      submitLabel={redirect === null ? 'Add redirect' : 'Save'}
      disabled={redirect !== null && !draft.isEdited}
    >
      <SelectField label="Matches" options={MATCH_OPTIONS} {...draft.field('match')} />
      <TextField
        label="From"
        required
        maxLength={1_024}
        hint={MATCHES[match].from}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        {...draft.field('from')}
      />
      <TextField
        label="To"
        required
        maxLength={2_048}
        hint={MATCHES[match].to}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        {...draft.field('to')}
      />
      <SelectField
        label="Status"
        options={STATUSES.map(({ value, label }) => ({ value: String(value), label }))}
        hint="Browsers remember permanent redirects. Try a temporary one first."
        {...draft.field('status')}
      />
      <CheckboxField
        label="Keep the query"
        hint="Appends the part after the ? to the new address."
        {...draft.box('keep_query')}
      />
    </Form>
  );
}
