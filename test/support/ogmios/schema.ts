/** The published schema of Ogmios 6.14 (`test/data/ogmios`) as a check of messages. */
import { Ajv, type ValidateFunction } from 'ajv';
import { dataText } from '../testData.ts';

interface Schema {
  $schema?: string;
  readonly properties?: Record<string, { required?: string[] }>;
  readonly definitions: Record<string, Record<string, unknown>>;
}

/**
 * What is wrong with a message, by the schema; null: nothing. Three slips of the published files
 * are mended first: a value forbids its own member `ada`, a generic error requires a member
 * `string` that it does not allow, and references hold characters that addresses may not.
 */
export type SchemaCheck = (message: string) => string | null;

export function schemaCheck(): SchemaCheck {
  checkOfAll ??= compileSchema();
  return checkOfAll;
}

let checkOfAll: SchemaCheck | null = null;

function compileSchema(): SchemaCheck {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  const cardano = read('cardano.json');
  const ogmios = read('ogmios.json');
  delete cardano.definitions.Value?.propertyNames;
  const fault = ogmios.properties?.RpcError;
  if (fault !== undefined) fault.required = ['jsonrpc', 'error'];
  mendError(fault);
  ajv.addSchema(cardano, 'cardano.json');
  ajv.addSchema(ogmios, 'ogmios.json');
  const compiled = new Map<string, ValidateFunction>();
  return (message) => {
    // trust: every message is an object
    const value = JSON.parse(message) as { method?: string };
    const name = value.method === undefined ? 'RpcError' : `${titleOf(value.method)}Response`;
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `ogmios.json#/properties/${name}` });
    compiled.set(name, validate);
    if (validate(value)) return null;
    const [error] = validate.errors ?? [];
    return `${name}${error?.instancePath}: ${error?.message} in ${message.slice(0, 300)}`;
  };
}

function mendError(fault: unknown): void {
  // trust: the shape of the published file
  const { properties } = fault as { properties: { error: { required: string[] } } };
  properties.error.required = ['code'];
}

/** `queryLedgerState/eraStart` → `QueryLedgerStateEraStart`. */
function titleOf(method: string): string {
  return method.replace(/(^|\/)(.)/g, (_, _slash: string, first: string) => first.toUpperCase());
}

function read(name: string): Schema {
  const text = dataText(`ogmios/${name}`).replace(
    /("\$ref"\s*:\s*")([^"]+)"/g,
    (_, head: string, target: string) => `${head}${target.replace(/[<>, ]/g, escaped)}"`,
  );
  // trust: the published file
  const schema = JSON.parse(text) as Schema;
  delete schema.$schema;
  return schema;
}

function escaped(character: string): string {
  return encodeURIComponent(character);
}
