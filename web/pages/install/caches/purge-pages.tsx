import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { useDomains } from '../../../api/domains.ts';
import { FormError, unwrapStarted } from '../../../api/failure.ts';
import { TextArea } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { readAddresses } from './page-addresses.ts';

const FIELD = 'addresses';
const MOST = 1_000;
const MOST_ERRORS_SHOWN = 3;

/** Purges single pages of an install. */
export function PurgePages({ installId }: { installId: string }) {
  const queries = useQueryClient();
  const domains = useDomains(installId);
  const [text, setText] = useState('');

  async function purge() {
    const names = domains.data ?? (await domains.refetch({ throwOnError: true })).data ?? [];
    const { paths, errors } = readAddresses(
      text,
      names.map(({ name }) => name),
    );
    const error = errorOf(paths, errors);
    if (error !== null) throw new FormError(error, [{ field: FIELD, message: error }]);
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/purge_cache', {
        params: { path: { install_id: installId } },
        body: { type: 'page', paths },
      }),
    );
    const purged = paths.length === 1 ? 'the page' : `${paths.length} pages`;
    showOperation(operationId, { busy: `Purging ${purged}.`, done: `Purged ${purged}.` });
    setText('');
    await queries.invalidateQueries({ queryKey: ['operation', installId] });
  }

  return (
    <Form
      submitLabel="Purge these pages"
      onSubmit={purge}
      fieldOf={(name) => name.replace(/^paths\b.*/, FIELD)}
    >
      <TextArea
        label="Addresses to purge"
        name={FIELD}
        hint={`One on each line, at most ${MOST.toLocaleString('en')}: /news/ or https://www.example.com/news/. All other pages stay cached.`}
        autoCapitalize="none"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Form>
  );
}

/** The error of the field; null if it is valid. */
function errorOf(paths: readonly string[], errors: readonly string[]): string | null {
  if (errors.length > MOST_ERRORS_SHOWN) {
    const others = errors.length - MOST_ERRORS_SHOWN;
    return `${errors.slice(0, MOST_ERRORS_SHOWN).join(' ')} ${others} more ${others === 1 ? 'line is' : 'lines are'} invalid.`;
  }
  if (errors.length > 0) return errors.join(' ');
  if (paths.length === 0) return 'Enter at least one address.';
  if (paths.length <= MOST) return null;
  return `You entered ${paths.length} addresses. Purge at most ${MOST} at once, or the page cache.`;
}
