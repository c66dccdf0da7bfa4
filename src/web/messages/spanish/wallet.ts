/** Spanish of the wallet's page: keys, portfolio, own orders and locks. */
import type { Messages } from '../english.ts';

export const WALLET: Messages['wallet'] = {
  title: 'Cartera',
  connection: 'Conexión',
  balance: 'Saldo',
  more: { one: 'y # más', other: 'y # más' },
  first: 'Conecta primero una cartera.',
  changed: 'Mientras tanto se conectó otra cartera. Empieza de nuevo.',
  noChain: 'Este servidor no tiene cadena: no hay nada que negociar.',
  nothingToSign: 'Este servidor no tiene cadena: no hay nada que firmar.',
  make: 'Crear una cartera de prueba',
  connect: 'Conectar una cartera',
  test: 'Cartera de prueba',
  testCaution:
    'Su clave se guarda sin protección en este navegador. Es para las monedas de esta devnet, ' +
    'que ' +
    'no valen nada: no uses nunca una clave así en otro sitio.',
  useTest: 'Usar una cartera de prueba',
  importKey: 'Importar una clave',
  importCaution:
    'Solo una clave de esta devnet: se guarda sin protección y cualquier script de esta página ' +
    'puede leerla. No pegues nunca la clave de una cartera con monedas reales, aunque te la pidan.',
  secret: 'Clave secreta',
  secretHint: '64 cifras hexadecimales, como las exporta una cartera de prueba.',
  importIt: 'Importarla',
  ofBrowser: 'Cartera de este navegador',
  connectTo: (name) => `Conectar ${name}`,
  noExtension: 'No hay ninguna cartera instalada en este navegador. Sirve cualquiera con CIP-30.',
  devnetCoins: 'Monedas de esta devnet, sin valor.',
  get: (ada) => `Obtener ${ada} ADA`,
  coinsSent: 'Enviadas; son tuyas cuando un bloque las tenga.',
  coinsCame: (ada) => `Llegaron ${ada} ADA.`,
  coinsUnseen: 'Todavía no se han visto en un bloque.',
  copy: 'Copiar',
  copied: 'Copiado',
  selectIt: 'Selecciónalo',
  copyAddress: 'Copiar la dirección',
  copyKey: 'Copiar la clave secreta',
  disconnect: 'Desconectar',
  keyCaution:
    'Una cartera de prueba: su clave se guarda sin protección en este navegador. No le envíes ' +
    'nunca monedas reales.',
  showKey: 'Mostrar la clave secreta',
  showKeyMeans:
    'Quien vea esta clave puede gastar todo lo que tiene la cartera, ahora y después. Muéstrala ' +
    'donde nadie ni ninguna cámara mire, y guarda la copia en un lugar seguro.',
  showIt: 'Mostrarla',
  hideKey: 'Ocultar la clave secreta',
  notKept: 'Ya no se guarda aquí.',
  forget: 'Olvidar esta cartera',
  forgetTitle: 'Olvidar la cartera de prueba',
  forgetMeans:
    'Su clave se borra de este navegador. Sin una copia de la clave, sus monedas, órdenes y ' +
    'bloqueos se pierden para siempre.',
  forgetIt: 'Olvidarla',
  keepIt: 'Conservarla',
  others: 'Otras carteras de este navegador',
  switchTo: (address) => `Usar la cartera ${address}`,
  use: 'Usar',
  add: 'Añadir otra cartera de prueba',
};

export const KEYS: Messages['keys'] = {
  tooMany: (most) => `Este navegador guarda ${most} carteras de prueba: olvida antes una de ellas.`,
  none: 'Pega una clave secreta.',
  unreadable: 'Una clave secreta tiene 64 cifras hexadecimales (0 a 9, a a f).',
  noStorage: (why) => `Este navegador no guarda nada para esta página: ${why}`,
};

const said = (words: string | null) => (words === null ? '' : ` Dice: ${words}`);

export const EXTENSION: Messages['extension'] = {
  noApi: 'La cartera aceptó, pero no dio nada a lo que preguntar.',
  noNetwork: 'La cartera no dice en qué red está.',
  noOutputs: 'La cartera no dio una lista de salidas.',
  unreadable: {
    address: 'La cartera no dio una dirección legible.',
    balance: 'La cartera no dio un saldo legible.',
    output: 'La cartera no dio una salida legible.',
    signature: 'La cartera no dio una firma legible.',
  },
  cannot: (method) => `La cartera no puede hacer ${method}.`,
  noAnswer: (method) => `La cartera no respondió a ${method}. Recarga la página.`,
  declined: (words) => `Lo rechazaste en la cartera.${said(words)}`,
  accountChanged: (words) => `La cartera cambió de cuenta: conéctala de nuevo.${said(words)}`,
  noKey: (words) => `La cartera no tiene clave para esta transacción.${said(words)}`,
  refused: (words) => `La cartera se negó.${said(words)}`,
  failed: (words) => `La cartera falló: ${words}`,
  noOwnKey: (name) => `${name} tiene una dirección sin clave propia: no puede negociar aquí.`,
  onTestnet: (name, here) =>
    `${name} está en una red de pruebas, este servidor está en ${here}. ` +
    'Cambia la cartera a mainnet y conéctala de nuevo.',
  onMainnet: (name, here) =>
    `${name} está en mainnet, este servidor está en ${here}. ` +
    'Cambia la cartera a una red de pruebas y conéctala de nuevo.',
};

export const PORTFOLIO: Messages['portfolio'] = {
  title: 'Cartera de tokens',
  allWallets: { one: 'Las # carteras', other: 'Las # carteras' },
  value: 'Valor de los tokens',
  realized: 'Realizado',
  unrealized: 'No realizado',
  gain: 'Ganancia',
  spent: 'Gastado',
  none: 'Ningún token todavía. Lo que compres aparece aquí, con lo que cuesta y vale.',
  overTime: 'Ganancias y pérdidas en el tiempo',
  span: 'Periodo',
  spans: { day: '24h', month: '30d', all: 'Todo' },
  point: (when, gain) => `${when}: ${gain}`,
  noHistory: 'Todavía no hay línea: hacen falta dos puntos en este periodo.',
  tokens: 'Tokens',
  picture: {
    share: 'Compartir como imagen',
    title: 'Tus ganancias y pérdidas como imagen',
    gain: 'Ganancias y pérdidas',
    save: 'Guardar la imagen',
    send: 'Compartir',
    failed: 'Este navegador no dibuja imágenes.',
  },
  columns: {
    token: 'Token',
    balance: 'Saldo',
    value: 'Valor',
    average: 'Comprado a',
    price: 'Precio',
    realized: 'Realizado',
    unrealized: 'No realizado',
    gain: 'Ganancia',
  },
};

export const ORDERS: Messages['orders'] = {
  open: 'Órdenes abiertas',
  history: 'Historial',
  asFile: 'Guardar como CSV',
  saved: { one: '# orden guardada.', other: '# órdenes guardadas.' },
  noFile: (status) => `El servidor no dio el historial (estado ${status}). Inténtalo de nuevo.`,
  none: {
    all: 'Todavía no tienes órdenes aquí.',
    open: 'No tienes órdenes abiertas.',
    ended: 'Todavía no ha terminado ninguna orden tuya.',
  },
  loading: 'Se están cargando tus órdenes.',
  trouble: (why) => `Tus órdenes: ${why}`,
  ended: (when) => `terminada ${when}`,
  atLeast: (offered, least) => `${offered} → al menos ${least}`,
  soFar: (offered, got) => `${offered} → ${got} hasta ahora`,
  explained: (meaning, placed, until) =>
    until === null
      ? `${meaning} Puesta ${placed}.`
      : `${meaning} Puesta ${placed}. Puede devolverse desde ${until}.`,
  cancel: 'Cancelar',
  cancelOne: (side, terms) => `Cancelar: ${side} ${terms}`,
  cancelBuy: 'Cancelar esta compra',
  cancelSell: 'Cancelar esta venta',
  cancelMeans: (terms) => `${terms}: lo que ofrece vuelve a tu cartera.`,
  cancelWords: 'Tu orden se te devuelve.',
  signCancel: 'Firmar y cancelar la orden',
  keep: 'Conservar la orden',
  cancelSent: 'La cancelación se ha enviado. Cuenta cuando un bloque la tenga.',
};

export const STATES: Messages['states'] = {
  MempoolPending: {
    name: 'Poniéndose',
    meaning: 'Enviada, y espera que un bloque la tome. Hasta entonces aún puede desaparecer.',
  },
  Pending: {
    name: 'Abierta',
    meaning: 'En la cadena. Se ejecuta cuando el precio lo permite, por orden de llegada.',
  },
  MempoolEvaluated: {
    name: 'Ejecutándose',
    meaning: 'Su ejecución se ha enviado y espera un bloque. Una reversión aún puede deshacerla.',
  },
  Evaluated: { name: 'Ejecutada', meaning: 'Ejecutada: los tokens o las monedas se pagaron.' },
  MempoolRefunded: {
    name: 'Devolviéndose',
    meaning: 'Se está devolviendo: eso se ha enviado y espera un bloque.',
  },
  Refunded: {
    name: 'Devuelta',
    meaning: 'Terminó sin operación; lo que ofrecía volvió a su dueño.',
  },
  Dropped: {
    name: 'Descartada',
    meaning: 'Su transacción nunca llegó a un bloque: no se gastó nada.',
  },
  cancelled: { name: 'Cancelada', meaning: 'Cancelada por su dueño; lo que ofrecía volvió.' },
  expired: {
    name: 'Vencida',
    meaning: 'No se ejecutó a tiempo; lo que ofrecía volvió, sin la comisión de la devolución.',
  },
};

export const LOCKS: Messages['locks'] = {
  own: 'Bloqueos',
  none: 'No tienes bloqueos. Los tokens se bloquean en la página de su token.',
  opensIn: (left) => `se abre en ${left}`,
  open: 'abierto',
  withdraw: 'Retirar',
  withdrawOne: (amount, ticker) => `Retirar ${amount} ${ticker}`,
  title: (ticker) => `Retirar ${ticker}`,
  words: 'Lo bloqueado vuelve a ser tuyo.',
  sign: 'Firmar y retirar',
  sent: 'Enviado. Los tokens son tuyos cuando un bloque lo tenga.',
  monthBefore: 'El mes anterior',
  monthAfter: 'El mes siguiente',
  opensOn: (day) => ({ one: `${day}: # bloqueo se abre`, other: `${day}: # bloqueos se abren` }),
};

export const NOTICES: Messages['notices'] = {
  buyOf: (ticker) => `Compra de ${ticker}`,
  sellOf: (ticker) => `Venta de ${ticker}`,
  transaction: 'Transacción',
  txCopied: 'Id de la transacción copiado.',
  txOfTrade: 'Transacción de la operación',
  txPlaced: 'Transacción que puso la orden',
  txEnded: 'Transacción que terminó la orden',
  MempoolPending: ({ what, offered }) => `${what} por ${offered}: enviada, espera un bloque.`,
  Pending: ({ what, offered }) => `${what} por ${offered}: abierta en la cadena.`,
  MempoolEvaluated: ({ what }) => `${what}: su ejecución espera un bloque.`,
  Evaluated: ({ what, offered, gets }) => `${what}: ejecutada. ${offered} → ${gets}.`,
  MempoolRefunded: ({ what }) => `${what}: va de vuelta a ti.`,
  Refunded: ({ what, offered }) => `${what}: terminada, ${offered} volvió.`,
  Dropped: ({ what }) => `${what}: nunca llegó a un bloque. No se gastó nada; ponla de nuevo.`,
};
