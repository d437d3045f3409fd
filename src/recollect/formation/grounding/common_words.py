"""English words that are no names even where they are capitalised: in titles, at a beginning."""

from typing import Final

COMMON: Final = frozenset(
    """
    a an and are as at be been but by can could did do does done for from had has have having he her
    hers him his how i if in into is it its just me more most my no nor not of off on one or our
    ours out over own she should so some such than that the their them then there these they this
    those through to too under until up upon us very via was we were what when where which while
    who whom whose why will with within without would yes yet you your yours i'm i've i'd i'll
    about above across after again against all almost alone along already also although always
    among another any anyone anything around away back because before behind below beside between
    beyond both down during each either else enough especially even ever every everyone everything
    except few first fourth fifth further half here however instead last late lately later least
    less like likely little lot lots many maybe mostly much near nearly neither never new next none
    nothing now often old once only onto other others otherwise per perhaps quite rather
    really recent recently same second several since somebody someone something sometimes soon
    still therefore third though together toward towards twice unless usual usually whenever
    wherever whether whole

    user users human assistant ai bot system speaker person people persons man men woman women boy
    girl kid kids child children baby babies toddler teen teenager adult family families parent
    parents mother mom mum mommy mama father dad daddy papa brother brothers sister sisters sibling
    siblings son sons daughter daughters husband wife spouse partner fiance fiancee boyfriend
    girlfriend friend friends grandma grandpa grandmother grandfather granny grandson granddaughter
    aunt auntie uncle cousin cousins nephew niece twin twins neighbor neighbour roommate colleague
    colleagues coworker boss manager guest host mr mrs ms miss dr prof professor sir madam st
    single married divorced widowed engaged separated male female nonbinary unknown

    january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday
    sunday mon tue tues wed thu thur thurs fri sat sun spring summer autumn fall winter today
    tomorrow yesterday tonight morning mornings noon afternoon afternoons evening evenings night
    nights day days week weeks weekly weekend weekends weekday weekdays month months monthly year
    years yearly daily hour hours minute minutes time times date birthday anniversary holiday
    holidays vacation trip trips travel christmas easter thanksgiving halloween hanukkah diwali
    ramadan eve am pm gmt utc ok okay

    english french german spanish italian portuguese dutch swedish norwegian danish finnish polish
    czech russian ukrainian greek turkish arabic hebrew persian hindi urdu bengali tamil chinese
    mandarin cantonese japanese korean vietnamese thai indonesian malay swahili latin american
    british irish scottish welsh canadian australian european african asian indian mexican
    brazilian argentine hungarian romanian bulgarian swiss austrian belgian mediterranean western
    eastern northern southern north south east west christian catholic muslim jewish buddhist hindu

    accountant actor actress administrator agent analyst apprentice architect artist attorney
    author baker banker barista biologist builder carpenter cashier chef chemist clerk coach
    composer consultant contractor cook counselor counsellor dancer dentist designer developer
    director doctor driver economist editor electrician employee engineer farmer firefighter
    freelancer gardener graduate guard hairdresser historian illustrator instructor intern
    investor janitor journalist judge lawyer lecturer lead librarian mathematician mechanic
    mechanical midwife musician nurse officer owner painter paramedic pastor pharmacist
    photographer physician physicist pianist pilot plumber police politician postdoc president
    principal producer programmer psychologist publisher realtor receptionist recruiter reporter
    researcher retired retiree sailor salesman salesperson scientist secretary self seller senior
    junior singer soldier specialist staff student supervisor surgeon tailor teacher technician
    therapist trader trainee trainer translator tutor veterinarian vet vice volunteer waiter
    waitress writer worker unemployed employed chief executive associate assistant head

    accessible account action active activities activity address advice affordable age agile air
    album
    alcohol allergic allergies allergy animal animals answer answers anxious app apartment apple
    apples application apps area art arts astronomy athlete avoids baby bachelor back background
    bacon bad badminton bag bakery ball balanced ballet band bank bar baseball basic basketball
    bass bath beach bean beans bear beauty bed bedroom beef beer beginner best better bicycle big
    bike bikes bird birds black blog blue board boat body book books bowl box brain bread
    breakfast breed brief bright broken brown budget bug bus business busy butter cactus cafe cake
    calendar calm camera camp cancer candle candy car card cards care career carpet cars casual
    cat cats category ceramics certificate chair chapter cheap cheese cheerful chess chicken
    chicken chili chocolate choir church cinema city class classes classic classical clean clear
    climate close clothes cloud club code coffee cold collection college color colour colors
    comedy comfort comfortable comic comics community commute company complete computer computers
    concert concise condition contact content context control conversation cookies cool corn
    cost country couple course courses cozy craft crafts cream creative credit cricket culture
    current curious customer cycle cycling dairy dance dark data database debt decision deep
    degree delivery desk dessert detail details diabetes diabetic diary diet different digital
    dinner dish dishes dislike dislikes document dog dogs door double downtown drama draws dream
    dress drink drinks drums dry duck ear early easy education egg eggs electric electronic email
    emails emergency emotional energy enjoys entry environment equipment essay event events exact
    exam exams excited exercise exercises expensive experience expert eye eyes fabric face fact
    facts fair faith fan fantasy farm fashion fast fat favorite favorites favourite fear feedback
    feet festival fiction field file film films final finance financial fine fire fish fit flat
    flight flights flower flowers flu flute folk food foods foot football forest formal fox free
    fresh friendly fried fruit fruits full fun furniture future game games garden gas gear
    gender general gentle gift gifts glass glasses gluten goal goals goes gold golf good grade
    grandchildren gray great green grey grill group groups guide guitar gym habit habits hair ham
    hand hands happy hard hat hate hates headphones health healthy heart heavy height help high
    highly hike hikes hip history hobbies hobby hockey home homemade honest honey horror horse
    horses hospital hot hotel house household houses hybrid ice idea ideas illness important
    income indoor indie industry info informal information injury insomnia instrument insurance
    intense interest interested interests internet interview introvert extrovert iron issue issues
    item items jacket jam jazz jeans jewelry job jobs jog joint joke juice jump key keyboard keto
    kitchen kitten knee knit know kosher halal label lab lactose lake lamb lamp land language
    languages laptop large laundry law lazy leader leather left leg legal lemon lesson letter
    level library license life light lights liked likes lime line list live lives local location
    locations long loss love loved lover loves low lunch lung machine magazine magic mail main
    major make makes man map maple marathon mark market master match materials math maths meal
    meals meat media medical medicine medium meet memory mental menu message messages metal
    middle migraine migraines mild milk mind minor mobile model modern money mood moon motor
    motorcycle mountain mountains mouse movie movies museum mushroom mushrooms music mystery nail
    name names nature neck need needs network neutral news nice noodle noodles normal note notes
    notebook novel novels nut nuts ocean office oil olive omnivore online open opera opinion
    option orange order organic outdoor outdoors oven page pain paint pan paper park part party
    pass past pasta path patient pattern peace peanut peanuts pen pepper perfect permanent
    personal personality pescatarian vegan pet pets phone photo photos physical physics piano pie
    piece pizza place places plan plans plant plants plastic play player players plays please
    podcast podcasts poem poems poetry point polite pool poor pop pork position positive post
    potato potatoes pottery practical prefer preference preferences preferred prefers pregnant
    present price pride private prize problem product products profession profile program project
    projects public puppy purple purpose quality question questions quick quiet rabbit race radio
    rain rap rare raw reason recipe recipes record red reggae regular relationship religion remote
    rent report request research response rest restaurant restaurants result review rice ride
    right ring river road robot rock role romance room rooms rose routine rugby rule rules run
    runner runs sad safe salad salary sale salmon salsa salt sandwich sauce savings scared
    scarf schedule school science sea seafood season seat section sell sensitive serious service
    session set severe sex shape share sheep shelf shirt shoe shoes shop short shy sick side
    silver simple sing size skate ski skill skills skin skirt sleep slow small smart smoker smoke
    smooth snack snacks snow soap soccer social sock sofa soft software solo song songs soul soup
    space speaks special spice spicy sport sports square squash star start state status steak step
    stereo stock stomach stone store stories story street stress stressed strict strong studies
    studio study style subject sugar suit sunny supper surf surprise sushi sweater sweet sweets
    swim table talk tall tan task tax tea teal team tech technical tennis test text texture theater
    theatre theme thesis thin thing things thriller ticket tie tired title toast tofu tomato
    tomatoes tone tool tools tooth topic total tour town toy toys track traditional traffic train
    training trail treat tree trees trouble truck trumpet tuna turkey type types underweight
    uniform unit university urban useful usual van vegetable vegetables vegetarian vehicle very
    video videos view village vinyl violin virtual vision visit visits vitamin voice wait walk
    walks wall war warm watch water way weather web website wedding weight well wheat white
    wide wife wild wind window wine winner wish wood word words work workout works workshop world
    worried writes wrong yellow yoga young zero zoo

    adopted attended became began born bought called came changed completed contacted created
    decided enjoyed felt finished found gave got grew hated helped hopes keep keeps knows learned
    left lived looking lost made met moved named needed owns participated passed planned played
    plans practices preferred quit read received said says seeks sees sent shared sold speaks
    spends spent started stopped takes teaches thinks told took tried tries turned uses used
    values visited wants wanted went wears wishes worked wrote asked asks believes feels finds
    gets gives goes hopes lost listens lives reads recommends reports runs travels watches
    ltd inc llc gmbh corp co plc tongue mac pro max mini plus ultra
    ceo cto cfo coo hr it pr tv pc dvd cd dj id api apis ui ux sql html css pdf url usb wifi gps
    diy bbq bmi adhd ptsd ocd phd mba msc bsc ba ma md jd gpa sat gre faq pto usd eur gbp cny rmb
    kg km lb lbs cm mm ml mph vip ktv ppt gdp ml nlp llm llms lgbtq lgbt lgbtq+ asap fyi rsvp
    """.split()
)

ALIASES: Final = tuple(
    frozenset(each.split(","))
    for each in (
        "us,usa,america,unitedstates,states,american,u.s,u.s.a",
        "uk,britain,england,unitedkingdom,greatbritain,british,u.k",
        "nyc,newyork,newyorkcity,ny,manhattan,bigapple",
        "la,losangeles", "sf,sanfrancisco,bayarea", "dc,washington,washingtondc",
        "js,javascript", "ts,typescript", "k8s,kubernetes", "postgres,postgresql,pg",
        "insta,instagram,ig", "fb,facebook", "yt,youtube", "covid,covid19,coronavirus",
        "uae,emirates", "eu,europe,europeanunion", "holland,netherlands,dutch",
        "xmas,christmas", "vs,visualstudio,visualstudiocode,vscode", "mac,macbook,macos",
        "spain,spanish", "france,french", "germany,german", "norway,norwegian", "poland,polish",
        "sweden,swedish", "denmark,danish", "finland,finnish", "greece,greek", "turkey,turkish",
        "switzerland,swiss", "portugal,portuguese", "japan,japanese", "china,chinese,prc",
        "ireland,irish", "scotland,scottish", "wales,welsh", "thailand,thai", "mexico,mexican",
        "iceland,icelandic", "vietnam,vietnamese", "korea,korean", "italy,italian",
        "canada,canadian", "brazil,brazilian", "argentina,argentinian", "israel,israeli",
    )
)  # fmt: skip
"""Words and names, folded and without spaces, of which one may stand for the other."""

ENDINGS: Final = (
    "ing", "tion", "sion", "ment", "ness", "ship", "ful", "ous", "ity", "ism", "able", "ible",
    "ware", "ology", "ics", "ized", "ised", "tarian", "based", "less", "ical", "ional", "ings",
    "ments", "tions", "graphy", "ctive", "ology", "ists", "ers", "maker", "tech",
    "ance", "ence", "ances", "ences", "ancy", "ency", "ture", "tures", "tural", "ional", "ency",
    "ative", "atives", "itive", "ategy", "ategies", "lysis", "logies", "ivity", "ements", "ities",
    "sures", "osure", "otocol", "otocols", "ramework", "rameworks", "atory", "itory", "uidelines",
    "ization", "isation", "ifying", "ectives", "erial", "erials", "orial", "ipline",
)  # fmt: skip
"""Endings of capitalised words in titles that are hardly names."""

NAMES_IN_SPITE: Final = frozenset(
    "beijing nanjing chongqing reading sterling wyoming trinity felicity christy smriti"
    " flushing geography charity vance unity serenity florence clarence"
    " constance terrence terence laurence lawrence provence valence prudence accenture clement"
    " leonov montserrat france".split()
)
"""Names with such an ending."""
