import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { ofInstall } from '../../../api/rules.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';

const SIZES = [
  ['memory_limit', 'Memory per request'],
  ['upload_max_filesize', 'Largest upload'],
] as const;
const NUMBERS = [
  ['max_execution_time', 'Time per request, in seconds'],
  ['workers', 'Concurrent requests'],
  ['max_input_vars', 'Form fields per request'],
] as const;

type Php = BodyOf<HostingPaths['/installs/{install_id}/php']['get']>;

/** Changes the PHP limits of an install, once its host has reported them. */
export function PhpLimits({ install }: { install: Install }) {
  const { data: php } = useQuery({
    queryKey: ['install', install.id, 'php_limits'],
    queryFn: () => unwrap(hosting.GET('/installs/{install_id}/php', ofInstall(install.id))),
  });
  const { limits, defaults, maximums } = php ?? {};
  if (!php || !limits || !defaults || !maximums) return null;
  return <LimitsForm installId={install.id} php={php} defaults={defaults} maximums={maximums} />;
}

/** The fields of the limits. An empty field is the default. */
const fieldsOf = ({ limits, custom }: Php) => {
  const own = (name: keyof NonNullable<typeof limits>) =>
    custom.includes(name) ? String(limits?.[name] ?? '') : '';
  return {
    memory_limit: own('memory_limit'),
    upload_max_filesize: own('upload_max_filesize'),
    max_execution_time: own('max_execution_time'),
    workers: own('workers'),
    max_input_vars: own('max_input_vars'),
  };
};

/** The operation shows the progress. */
function LimitsForm({
  installId,
  php,
  defaults,
  maximums,
}: {
  installId: string;
  php: Php;
  defaults: NonNullable<Php['defaults']>;
  maximums: NonNullable<Php['maximums']>;
}) {
  const queries = useQueryClient();
  const draft = useDraft({
    resource: php,
    fieldsOf,
    read: () => hosting.GET('/installs/{install_id}/php', ofInstall(installId)),
    appliesLater: true,
    async save(edited, header) {
      const body: Record<string, string | number | null> = {};
      for (const [name] of SIZES) {
        const text = edited[name];
        if (text !== undefined) body[name] = text === '' ? null : text.toUpperCase();
      }
      for (const [name] of NUMBERS) {
        const text = edited[name];
        if (text !== undefined) body[name] = text === '' ? null : Number(text);
      }
      const params = { path: { install_id: installId }, header };
      await unwrap(hosting.PATCH('/installs/{install_id}/php', { params, body }));
      await queries.invalidateQueries({ queryKey: ['operation', installId] });
      await queries.invalidateQueries({ queryKey: ['install', installId, 'php_limits'] });
      showSuccess('Changing the PHP limits.');
    },
  });

  const field = (name: keyof ReturnType<typeof fieldsOf>, label: string) => ({
    label,
    placeholder: String(defaults[name]),
    hint: `${name}: default ${defaults[name]}, at most ${maximums[name]}`,
    ...draft.field(name),
  });

  return (
    <Section title="PHP limits">
      <p>
        Leave a field empty for the default. The website is checked before and after the change. If it gets
        worse, PHP keeps its current limits. More memory per request leaves room for fewer concurrent
        requests.
      </p>
      <Form draft={draft} submitLabel="Change limits">
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
