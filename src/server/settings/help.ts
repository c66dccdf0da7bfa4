import Type, { type TSchema } from 'typebox';
import { TABLE } from './table.ts';

/** One setting as `--help` and the documents list it. */
interface SettingRow {
  readonly key: string;
  /** The type in words: `integer 0…65535`, `one of trace, debug`. */
  readonly type: string;
  /** The default as text for the environment; empty: unset. */
  readonly standard: string;
  readonly description: string;
}

/** The type of a setting in words. */
export function typeOf(schema: TSchema): string {
  if (Type.IsInteger(schema))
    return `integer ${field(schema, 'minimum')}…${field(schema, 'maximum')}`;
  if (Type.IsNumber(schema)) {
    return `number ${field(schema, 'minimum')}…${field(schema, 'maximum')}`;
  }
  if (Type.IsBoolean(schema)) return 'true or false';
  if (Type.IsArray(schema)) return 'comma separated list';
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  return 'text';
}

/** A keyword of JSON Schema that typebox's types do not have. */
function field(schema: TSchema, keyword: string): unknown {
  return Reflect.get(schema, keyword);
}

/** undefined: the setting has no default. */
export function defaultOf(schema: TSchema): unknown {
  return field(schema, 'default');
}

export function settingRows(): readonly SettingRow[] {
  return Object.entries(TABLE.properties).map(([key, schema]) => ({
    key,
    type: typeOf(schema),
    standard: String(defaultOf(schema) ?? ''),
    description: String(field(schema, 'description')),
  }));
}

/** All settings as text of at most 100 columns, for `--help`. */
export function settingsHelp(): string {
  const rows = settingRows().map(({ key, type, standard, description }) => {
    const preset = standard === '' ? 'unset' : standard;
    return `  ${key} (${type}; default ${preset})\n      ${description}`;
  });
  return `Settings, from the environment:\n\n${rows.join('\n')}\n`;
}
