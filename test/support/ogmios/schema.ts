/** The published schema of Ogmios 6.14 (`test/data/ogmios`) as a check of messages. */
import { Ajv, type ValidateFunction } from 'ajv';
import { dataText } from '../testData.ts';

interface Schema {
  $schema?: string;
  readonly properties?: Record<string, { required?: string[] }>;
  readonly definitions: Record<string, Record<string, unknown>>;
}

/**
 * The fault that the schema finds in a message; null: nothing. Four slips of the published files
 * are mended first: a value forbids its own member `ada`, a generic error requires a member
 * `string` that it does not allow, the refusal of a genesis requires a result and is not among the
 * answers, and references hold characters that addresses may not.
 */
type SchemaCheck = (message: string) => string | null;

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
  const genesis = ogmios.properties?.QueryNetworkInvalidGenesis;
  if (genesis !== undefined) genesis.required = ['jsonrpc', 'method', 'error'];
  ajv.addSchema(cardano, 'cardano.json');
  ajv.addSchema(ogmios, 'ogmios.json');
  const compiled = new Map<string, ValidateFunction>();
  return (message) => {
    // trust: every message is an object
    const value = JSON.parse(message) as { method?: string; error?: unknown };
    const name = nameOf(value);
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

function nameOf({ method, error }: { method?: string; error?: unknown }): string {
  if (method === undefined) return 'RpcError';
  const isGenesis = method === 'queryNetwork/genesisConfiguration';
  if (isGenesis && error !== undefined) return 'QueryNetworkInvalidGenesis';
  return `${titleOf(method)}Response`;
}

/** Every method of Ogmios. */
export function schemaMethods(): string[] {
  const requests = Object.values(read('ogmios.json').properties ?? {});
  const methods = requests.flatMap((each) => {
    // trust: the shape of the published file
    const { properties } = each as { properties?: { method?: { enum?: string[] } } };
    return properties?.method?.enum ?? [];
  });
  return [...new Set(methods)];
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
