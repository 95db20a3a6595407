import { useQuery, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';

const SIZES = [
  ['memory_limit', 'Memory per request'],
  ['upload_max_filesize', 'Largest upload'],
] as const;
const NUMBERS = [
  ['max_execution_time', 'Processor time per request, in seconds'],
  ['workers', 'Concurrent requests'],
  ['max_input_vars', 'Form fields per request'],
] as const;

/** Changes the PHP limits of an install. An empty field is the default. The operation shows the progress. */
export function PhpLimits({ install }: { install: Install }) {
  const queries = useQueryClient();
  const params = { path: { install_id: install.id } };
  const queryKey = ['install', install.id, 'php_limits'];
  const found = useQuery({
    queryKey,
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/php', { params })),
  });
  const { limits, defaults, maximums, custom = [] } = found.data ?? {};
  if (!limits || !defaults || !maximums) return null;

  async function change(values: FormData) {
    const number = (name: string) => (textOf(values, name) === '' ? null : Number(textOf(values, name)));
    const size = (name: string) => (textOf(values, name) === '' ? null : textOf(values, name).toUpperCase());
    const body = {
      memory_limit: size('memory_limit'),
      upload_max_filesize: size('upload_max_filesize'),
      max_execution_time: number('max_execution_time'),
      workers: number('workers'),
      max_input_vars: number('max_input_vars'),
    };
    await unwrap(hosting.PATCH('/installs/{install_id}/php', { params, body }));
    await queries.invalidateQueries({ queryKey: ['operation', install.id] });
    await queries.invalidateQueries({ queryKey });
    showSuccess('Changing the PHP limits.');
  }

  const field = (name: keyof typeof limits, label: string) => ({
    name,
    label,
    defaultValue: custom.includes(name) ? String(limits[name]) : '',
    placeholder: String(defaults[name]),
    hint: `${name}: default ${defaults[name]}, at most ${maximums[name]}`,
  });

  return (
    <Section title="PHP limits">
      <p>
        Leave a field empty for the default. The website is checked before and after the change. If it gets
        worse, PHP keeps its current limits. More memory per request leaves room for fewer concurrent
        requests.
      </p>
      <Form key={JSON.stringify([limits, custom])} submitLabel="Change limits" onSubmit={change}>
        {SIZES.map(([name, label]) => (
          <TextField key={name} {...field(name, label)} pattern="[1-9][0-9]{0,5}[MGmg]" />
        ))}
        {NUMBERS.map(([name, label]) => (
          <TextField key={name} {...field(name, label)} inputMode="numeric" pattern="[1-9][0-9]{0,5}" />
        ))}
      </Form>
    </Section>
  );
}
